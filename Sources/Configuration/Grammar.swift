import CurlClient
import Downloads
import Formats
import Foundation
import HTTPSemantics
import Logging
import PostgresClient
import Storage

/// How the values of one type are read and written, in the form that documents, the configuration file and the database have.
struct Grammar<Value: Sendable>: Sendable {
    let kind: Setting.Kind
    let read: @Sendable (JSON) throws(ValueFault) -> Value
    let write: @Sendable (Value) -> JSON

    /// The placeholder of a value in the help, if one fits all settings of the kind.
    var valueName: String? {
        switch kind {
        case .integer: "n"
        case .bytes: "bytes"
        case .seconds: "duration"
        case .text, .path, .flag, .texts, .rules: nil
        }
    }

    static func text(
        read: @escaping @Sendable (String) throws(ValueFault) -> Value, write: @escaping @Sendable (Value) -> String
    ) -> Self {
        Grammar(kind: .text) { json throws(ValueFault) in
            guard let text = json.stringValue else { throw ValueFault("must be a string") }
            return try read(text)
        } write: {
            .string(write($0))
        }
    }

    /// - Parameters:
    ///   - taken: what the setting takes, as the end of a sentence about a text that it does not take.
    ///   - read: returns nil for such a text.
    static func text(
        _ taken: String, read: @escaping @Sendable (String) -> Value?, write: @escaping @Sendable (Value) -> String
    ) -> Self {
        let read = { @Sendable (text: String) throws(ValueFault) in
            guard let value = read(text) else { throw ValueFault("is '\(text)'; \(taken)") }
            return value
        }
        return .text(read: read, write: write)
    }

    /// A value that is written as a list of texts.
    static func texts(
        separator: Character = ",", isRepeated: Bool = true,
        read: @escaping @Sendable ([String]) throws(ValueFault) -> Value,
        write: @escaping @Sendable (Value) -> [String]
    ) -> Self {
        Grammar(kind: .texts(separator: separator, isRepeated: isRepeated)) { json throws(ValueFault) in
            let elements = json.arrayValue
            let texts = (elements ?? []).compactMap(\.stringValue)
            guard texts.count == elements?.count else { throw ValueFault("must be a list of strings") }
            return try read(texts)
        } write: {
            .strings(write($0))
        }
    }

    /// A list of values, each of which is written as a text. The parameters are those of `text`.
    static func list<Element>(
        _ taken: String, read: @escaping @Sendable (String) -> Element?,
        write: @escaping @Sendable (Element) -> String
    ) -> Self where Value == [Element] {
        .texts { texts throws(ValueFault) in
            try texts.map { text throws(ValueFault) in
                guard let value = read(text) else { throw ValueFault("contains '\(text)'; \(taken)") }
                return value
            }
        } write: {
            $0.map(write)
        }
    }
}

// MARK: - Numbers

extension Grammar<Int> {
    static func integer(_ range: ClosedRange<Int64>) -> Self {
        Grammar(
            kind: .integer(range), read: { json throws(ValueFault) in Int(try json.integer(in: range)) },
            write: JSON.count)
    }
}

extension Grammar<Int64> {
    static func bytes(_ range: ClosedRange<Int64>) -> Self {
        Grammar(
            kind: .bytes(range), read: { json throws(ValueFault) in try json.integer(in: range) }, write: JSON.integer)
    }

    /// The size of a file, or of several files together.
    static let size = bytes(0...(1 << 60))
}

extension Grammar<Int64?> {
    /// Bytes per second; 0: no limit.
    static let rate = Grammar(kind: .bytes(0...(1 << 40))) { json throws(ValueFault) in
        let rate = try json.integer(in: 0...(1 << 40))
        return rate == 0 ? nil : rate
    } write: {
        .integer($0 ?? 0)
    }
}

extension Grammar<Double> {
    static let seconds = Grammar(kind: .seconds) { json throws(ValueFault) in
        let range = Setting.durations
        guard let number = json.numberValue, range.contains(number) else {
            throw ValueFault("must be a number of seconds from \(Int(range.lowerBound)) to \(Int(range.upperBound))")
        }
        return number
    } write: {
        .number($0)
    }
}

extension JSON {
    fileprivate func integer(in range: ClosedRange<Int64>) throws(ValueFault) -> Int64 {
        let kind = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        guard let number = integerValue else { throw ValueFault("must be \(kind)") }
        guard range.contains(number) else { throw ValueFault("is \(number); it must be \(kind)") }
        return number
    }
}

// MARK: - Texts

extension Grammar<Bool> {
    static let flag = Grammar(kind: .flag) { json throws(ValueFault) in
        guard let flag = json.boolValue else { throw ValueFault("must be true or false") }
        return flag
    } write: {
        .bool($0)
    }

    /// A text for each value.
    static func choice(false no: String, true yes: String, ignoresCase: Bool = false) -> Self {
        .text("it must be \(no) or \(yes)") { text in
            let word = ignoresCase ? text.lowercased() : text
            return word == no || word == yes ? word == yes : nil
        } write: {
            $0 ? yes : no
        }
    }
}

extension Grammar<Logger.Level> {
    static var level: Self {
        let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
        return Grammar(kind: .text) { json throws(ValueFault) in
            guard let text = json.stringValue else { throw ValueFault("must be one of \(levels)") }
            guard let level = Logger.Level(rawValue: text.lowercased()) else {
                throw ValueFault("is '\(text)'; it must be one of \(levels)")
            }
            return level
        } write: {
            .string($0.rawValue)
        }
    }
}

extension Grammar<String> {
    /// The sources expand `~/`.
    static let path = Grammar(kind: .path) { json throws(ValueFault) in
        guard let path = json.stringValue, !path.isEmpty else { throw ValueFault("is empty; it takes a path") }
        return path
    } write: {
        .string($0)
    }

    /// A program and its arguments.
    static let command = checked { text throws(ValueFault) in
        guard text.contains(where: { $0 != " " }) else {
            throw ValueFault("is empty; it takes a program and its arguments")
        }
    }

    static let token = checked { text throws(ValueFault) in
        guard !text.isEmpty else {
            throw ValueFault(
                "is empty. Set FETCHD_TOKEN to the token of the first administrator, or unset it: an empty variable is set, too"
            )
        }
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw ValueFault(
                "must be visible ASCII characters, without spaces or line breaks. Change FETCHD_TOKEN, or unset it")
        }
    }

    private static func checked(_ check: @escaping @Sendable (String) throws(ValueFault) -> Void) -> Self {
        text { text throws(ValueFault) in
            try check(text)
            return text
        } write: {
            $0
        }
    }
}

extension Grammar<Name> {
    static let name = text(
        "a name has 1 to 128 of the characters A-Z a-z 0-9 . _ -", read: { Name($0) }, write: \.text)
}

extension Grammar<UInt32> {
    /// Permissions in octal.
    ///
    /// - Parameters:
    ///   - least: the permissions that fetchd itself needs.
    ///   - purpose: what it needs them for.
    static func mode(least: UInt32, to purpose: String) -> Self {
        .text(
            "it takes permissions as an octal number from 0 to 0777, and fetchd must be able to \(purpose) (0\(String(least, radix: 8)))",
            read: { text in UInt32(text, radix: 8).flatMap { $0 <= 0o777 && $0 & least == least ? $0 : nil } },
            write: octal)
    }

    static let fileMode = mode(least: 0o600, to: "read and write its files")
    static let directoryMode = mode(least: 0o700, to: "use its folders")

    static let socketMode = text(
        "it takes permissions in octal, such as 0600 or 0660",
        read: { text in
            guard text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "7") ~= $0 }) else { return nil }
            return UInt32(text, radix: 8).flatMap { $0 <= 0o777 ? $0 : nil }
        },
        write: octal)

    @Sendable private static func octal(_ mode: UInt32) -> String { "0" + String(mode, radix: 8) }
}

/// The address of a PostgreSQL database, as a setting has it: `postgres://fetchd@db/fetchd`.
public struct ServerAddress: Sendable {
    /// It may have a password.
    public let url: String
    /// The address without a password.
    public let shown: String

    init(_ url: String) throws(PostgresError) {
        self.url = url
        shown = "postgres://" + (try PostgresTarget(url: url).description)
    }
}

extension Grammar<ServerAddress> {
    static let database = text { text throws(ValueFault) in
        do throws(PostgresError) {
            return try ServerAddress(text)
        } catch {
            var why = "\(error)"
            if case .targetInvalid(let fault) = error {
                why = "The address of the PostgreSQL server is invalid: \(fault)"
            }
            throw ValueFault("is not the address of a database such as postgres://fetchd@db/fetchd. \(why)")
        }
    } write: {
        $0.url
    }
}

extension Grammar<ListenAddress?> {
    /// `none`: no port.
    static let address = text { text throws(ValueFault) in
        text == "none" ? nil : try ListenAddress(text)
    } write: {
        $0?.description ?? "none"
    }
}

extension Grammar<NodeAddress> {
    static let nodeURL = text(
        "it must be an http or https address without user, query, fragment and spaces, such as http://10.0.0.7:8080",
        read: { NodeAddress($0) }, write: \.url)
}

// MARK: - Lists

extension Grammar<[String]> {
    static let list = texts(read: { $0 }, write: { $0 })
}

extension Grammar<TrustedProxies> {
    static let proxies = texts(
        read: { texts throws(ValueFault) in try TrustedProxies(texts) }, write: \.texts)
}

extension Grammar<AllowedOrigins> {
    static let origins = texts(
        read: { texts throws(ValueFault) in try AllowedOrigins(texts) }, write: \.texts)
}

extension Grammar<[Double]> {
    /// Times, separated by commas in one option. Without an element, the default applies.
    static var delays: Self {
        let times = list(
            "it takes times such as 0, 90s, 15m or 8h, separated by commas", read: { Quantity.seconds($0) },
            write: { JSON.number($0).written })
        return Grammar(
            kind: .texts(separator: ",", isRepeated: false),
            read: { json throws(ValueFault) in json == [] ? Settings().webhookRetryDelays : try times.read(json) },
            write: times.write)
    }
}

extension Grammar<[Network]> {
    static let networks = list(
        "it takes networks, such as 10.0.0.0/8 or fd00::/8", read: { Network($0) }, write: \.description)
}

extension Grammar<[HostPattern]> {
    /// An international name is converted to ASCII, as in URLs.
    static let hosts = list(
        "it takes host names such as files.example.com, *.example.com for all names below a name, and addresses",
        read: { text in
            let wildcard = text.hasPrefix("*.") ? "*." : ""
            return HostPattern(wildcard + ascii(String(text.dropFirst(wildcard.count))))
        },
        write: \.description)

    private static func ascii(_ name: String) -> String {
        guard name.utf8.contains(where: { $0 >= 0x80 }) else { return name }
        let scheme = "http://"
        return (scheme + name).withASCIIHost.map { String($0.dropFirst(scheme.count)) } ?? name
    }
}

extension Grammar<[ClosedRange<Int>]> {
    static let ports = list("it takes ports from 1 to 65535, such as 443 or 8000-8999") { text in
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { UInt16($0).map(Int.init) }
        guard ends.count <= 2, let first = ends[0], let last = ends[ends.count - 1], 1 <= first, first <= last
        else { return nil }
        return first...last
    } write: {
        $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)"
    }
}

extension Grammar<Schedule> {
    /// A list of days has commas, so semicolons separate the rules.
    static let schedule = texts(separator: ";") { texts throws(ValueFault) in
        let rules = try texts.map { text throws(ValueFault) in
            do throws(ValueFault) {
                return try ScheduleRule(text)
            } catch {
                throw ValueFault("contains '\(text)': \(error.why)")
            }
        }
        guard rules.count <= Schedule.mostRules else { throw ValueFault("has more than \(Schedule.mostRules) rules") }
        return Schedule(rules)
    } write: {
        $0.rules.map(\.description)
    }
}

extension Grammar<HostRules> {
    static let hostRules = Grammar(kind: .rules) { json throws(ValueFault) in
        guard let elements = json.arrayValue else { throw ValueFault("must be a list of rules") }
        guard elements.count <= HostRules.most else { throw ValueFault("has more than \(HostRules.most) rules") }
        var rules: [HostRule] = []
        for (index, element) in elements.enumerated() {
            do throws(HostRuleFault) {
                if let text = element.stringValue { _ = try HostRule.document(text) }
                rules.append(try HostRule(element))
            } catch {
                let place = error.member.map { " at its `\($0)`" } ?? ""
                throw ValueFault("has a fault in rule \(index + 1)\(place): it \(error.why)")
            }
        }
        return HostRules(rules)
    } write: {
        .array($0.rules.map(\.json))
    }
}
