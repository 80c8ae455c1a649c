import Downloads
import Formats
import Foundation

/// One setting of the service: a row of the table `Setting.all`. The options of `fetchd serve`, the variables of the environment,
/// the members of the configuration file, the document of `/v1/service`, the help and docs/configuration.md follow from it.
public struct Setting: Sendable {
    public let name: SettingName
    public let kind: Kind
    public let change: Change
    /// The placeholder of the value in the help; nil: the setting has no option.
    public let valueName: String?
    /// Sentences for the help, without the default.
    public let meaning: String
    /// The default, for the help.
    public let defaultText: String
    private let read: @Sendable (Settings) -> JSON
    private let write: @Sendable (inout Settings, JSON) throws(ValueFault) -> Void
    private let showing: @Sendable (String) -> String

    public enum Change: Sendable {
        /// Only a restart changes it.
        case restart
        /// Callers may read and change it while the service runs.
        case callers
        /// As `callers`, but only administrators: the setting says which addresses callers can reach, what is kept of the jobs of
        /// all callers, or what the log keeps of them.
        case administrators
    }

    public enum Kind: Sendable, Equatable {
        case text
        case path
        case integer(ClosedRange<Int64>)
        /// A number of bytes, or a text that `Quantity` reads.
        case bytes(ClosedRange<Int64>)
        /// A number of seconds in the range `durations`, or a text that `Quantity` reads.
        case seconds
        case flag
        /// - Parameters:
        ///   - separator: between the elements, in an environment variable.
        ///   - isRepeated: whether each element is an option of its own.
        case texts(separator: Character, isRepeated: Bool)
        /// Rules, each of them a document or a text. Semicolons separate the texts in an environment variable, and each is an option
        /// of its own.
        case rules
    }

    /// At most ten years, so that the sum of a time and a setting is still a valid time.
    public static let durations = 0...315_360_000.0

    /// - Parameters:
    ///   - valueName: nil: that of the grammar.
    ///   - unset: the default, if it is no value.
    ///   - note: the end of the default.
    ///   - showing: the text of the value that may be shown.
    init<Value>(
        _ name: SettingName, _ grammar: Grammar<Value>, in field: any WritableKeyPath<Settings, Value> & Sendable,
        as valueName: String? = nil, by change: Change = .restart, unset: String = "none", note: String = "",
        showing: @escaping @Sendable (String) -> String = { $0 }, _ meaning: String
    ) {
        self.name = name
        self.kind = grammar.kind
        self.change = change
        self.valueName = valueName ?? grammar.valueName
        self.meaning = meaning
        self.showing = showing
        read = { grammar.write($0[keyPath: field]) }
        write = { settings, value throws(ValueFault) in settings[keyPath: field] = try grammar.read(value) }
        defaultText = Self.text(of: read(Settings()), unset) + note
    }

    /// A setting without a default.
    init<Value>(
        _ name: SettingName, _ grammar: Grammar<Value>,
        optional field: any WritableKeyPath<Settings, Value?> & Sendable,
        as valueName: String? = nil, by change: Change = .restart, unset: String = "none",
        showing: @escaping @Sendable (String) -> String = { $0 }, _ meaning: String
    ) {
        let optional = Grammar<Value?>(
            kind: grammar.kind, read: grammar.read, write: { $0.map(grammar.write) ?? .null })
        self.init(
            name, optional, in: field, as: valueName ?? grammar.valueName, by: change, unset: unset, showing: showing,
            meaning)
    }

    private static func text(of value: JSON, _ unset: String) -> String {
        switch value {
        case .null: unset
        case .bool: "off"
        case .array(let elements) where elements.isEmpty: unset
        case .array(let elements): elements.map { $0.stringValue ?? $0.written }.joined(separator: ",")
        case .string(let text): text
        case .integer, .number, .object, .text: value.written
        }
    }

    public var optionName: String { name.rawValue.replacing("_", with: "-") }

    public var environmentName: String { "FETCHD_" + name.rawValue.uppercased() }

    /// Whether other values than that of the start can apply while the service runs.
    public var isRunning: Bool { change != .restart }

    /// The value in the form of documents, of the configuration file and of the database. A setting without a value is null.
    public func value(in settings: Settings) -> JSON { read(settings) }

    /// - Throws: if the value has another type, is out of range or malformed. Then nothing is changed.
    public func set(_ value: JSON, in settings: inout Settings) throws(SettingFault) {
        do throws(ValueFault) {
            if isRunning, case .array(let elements) = value { try Self.limit(elements) }
            try write(&settings, value)
        } catch {
            throw SettingFault(name, error.why)
        }
    }

    public func check(_ value: JSON) throws(SettingFault) {
        var settings = Settings()
        try set(value, in: &settings)
    }

    public func shown(_ value: JSON) -> JSON { value.stringValue.map { .string(showing($0)) } ?? value }

    /// Clients can send long lists.
    private static func limit(_ elements: [JSON]) throws(ValueFault) {
        guard elements.count <= 1000 else { throw ValueFault("has more than 1000 elements") }
        guard elements.allSatisfy({ ($0.stringValue ?? "").utf8.count <= 1000 }) else {
            throw ValueFault("has an element of more than 1000 bytes")
        }
    }
}

/// The name of a setting in the configuration file.
public struct SettingName: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { rawValue = value }

    // The settings that code names.
    public static let dataDir: SettingName = "data_dir"
    public static let downloadsDir: SettingName = "downloads_dir"
    public static let location: SettingName = "location"
    public static let locationCredentials: SettingName = "location_credentials"
    public static let store: SettingName = "store"
    public static let keyFile: SettingName = "key_file"
    public static let keyCommand: SettingName = "key_command"
    public static let token: SettingName = "token"
    public static let maxConcurrentJobs: SettingName = "max_concurrent_jobs"
    public static let schedule: SettingName = "schedule"
    public static let rateLimit: SettingName = "rate_limit_bytes_per_second"
}

public enum SettingSource: String, Sendable, CaseIterable {
    /// A client has set it. The database keeps it.
    case api
    case flag
    case environment
    case file
    case `default`
}

/// Why a text or a value of JSON is no value of a type: the end of a sentence that begins with the name, without its full stop.
public struct ValueFault: Error, Sendable, Equatable {
    public let why: String
    init(_ why: String) { self.why = why }
}

public struct SettingFault: Error, Sendable, Equatable, CustomStringConvertible {
    public let name: SettingName
    public let why: String

    init(_ name: SettingName, _ why: String) {
        self.name = name
        self.why = why
    }

    /// The token has no option, so people know it by its variable.
    public var description: String { name == .token ? "The token \(why)." : "\(name.rawValue) \(why)." }
}

extension Setting.Kind {
    /// The kind as the end of a sentence, such as `a string`.
    var description: String {
        switch self {
        case .text, .path: "a string"
        case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .bytes(let range): "a number of bytes such as 500000, 500K or 2Gi, from 0 to \(range.upperBound)"
        case .seconds: "a time such as 90, 90s, 15m, 8h or 30d, at most \(Int(Setting.durations.upperBound)) seconds"
        case .flag: "true or false"
        case .texts: "a list of strings"
        case .rules: "a list of rules"
        }
    }

    /// The column `values` of the table of docs/configuration.md.
    var values: String {
        switch self {
        case .text: "text"
        case .path: "path"
        case .integer(let range): "\(range.lowerBound) to \(range.upperBound)"
        case .bytes: "bytes"
        case .seconds: "duration"
        case .flag: "`true`, `false`"
        case .texts, .rules: "list"
        }
    }

    func contains(_ value: JSON) -> Bool {
        switch self {
        case .integer(let range), .bytes(let range): value.integerValue.map(range.contains) ?? false
        case .seconds: value.numberValue.map(Setting.durations.contains) ?? false
        case .text, .path, .flag, .texts, .rules: true
        }
    }

    /// The value of an option or of the configuration file, in the form of documents. nil if it has another type.
    func typed(_ value: JSON) -> JSON? {
        switch (self, value) {
        case (.text, .string), (.path, .string), (.integer, .integer), (.bytes, .integer), (.flag, .bool): value
        case (.seconds, .integer), (.seconds, .number): value
        case (.bytes, .string(let text)), (.seconds, .string(let text)): parsed(text)
        case (.texts, .array(let elements)): Self.strings(elements)
        case (.rules, .array(let elements)): .array(elements.map(Self.document(ofRule:)))
        case (.text, _), (.path, _), (.integer, _), (.bytes, _), (.seconds, _), (.flag, _), (.texts, _), (.rules, _):
            nil
        }
    }

    /// The value of a variable of the environment, in the form of documents. nil if it has another type.
    func parsed(_ text: String) -> JSON? {
        switch self {
        case .text, .path: .string(text)
        case .integer: Int64(text).map(JSON.integer)
        case .bytes: Quantity.bytes(text).map(JSON.integer)
        case .seconds: Quantity.seconds(text).map(JSON.number)
        case .flag: Self.flag(text).map(JSON.bool)
        case .rules: Setting.Kind.texts(separator: ";", isRepeated: true).parsed(text).flatMap(typed)
        case .texts(let separator, _):
            Self.strings(text.split(separator: separator).map { .string($0.trimmingCharacters(in: .whitespaces)) })
        }
    }

    /// A text that is no rule stays as it is: the grammar refuses it.
    private static func document(ofRule value: JSON) -> JSON {
        value.stringValue.flatMap { try? HostRule.document($0) } ?? value
    }

    private static func flag(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true", "yes", "1": true
        case "false", "no", "0": false
        default: nil
        }
    }

    /// The elements without empty strings. nil if an element is neither a string nor a number.
    private static func strings(_ elements: [JSON]) -> JSON? {
        let texts = elements.compactMap { $0.stringValue ?? ($0.numberValue == nil ? nil : $0.written) }
        return texts.count == elements.count ? .strings(texts.filter { !$0.isEmpty }) : nil
    }
}
