import ArgumentParser
import Formats
import Foundation

enum ResumePolicyArgument: String, ExpressibleByArgument, CaseIterable, Sendable { case strict, evidence }
enum SignatureArgument: String, ExpressibleByArgument, CaseIterable, Sendable {
    case minisign, signify

    /// Of the file with the signature of a list, after the name of the list.
    var suffix: String { self == .minisign ? ".minisig" : ".sig" }
}

/// A public key of minisign or signify: its line, or a file that has the line after its comment.
struct PublicKeyArgument: ExpressibleByArgument, Sendable {
    let line: String
    /// As the comment in the file says.
    private(set) var kind: SignatureArgument?

    init?(argument: String) {
        if argument.utf8.count == 56, argument.hasPrefix("RW") {
            line = argument
            return
        }
        let text = try? String(contentsOfFile: argument, encoding: .utf8)
        let lines = text?.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
        guard let last = lines?.last(where: { !$0.isEmpty }), last.hasPrefix("RW") else { return nil }
        line = last
        kind = SignatureArgument.allCases.first { lines?.first?.contains($0.rawValue) ?? false }
    }
}

enum PriorityArgument: String, ExpressibleByArgument, CaseIterable, Sendable { case low, normal, high }

enum ConflictArgument: String, ExpressibleByArgument, CaseIterable, Sendable { case rename, error, replace }

enum StagingArgument: String, ExpressibleByArgument, CaseIterable, Sendable { case auto, whole }

enum WaitForArgument: String, ExpressibleByArgument, CaseIterable, Sendable { case space, credentials, url }

enum JobStateArgument: String, ExpressibleByArgument, CaseIterable, Sendable {
    case queued, running, waiting, paused, succeeded, failed, cancelled
}

enum DeliveryStateArgument: String, ExpressibleByArgument, CaseIterable, Sendable {
    case pending, acknowledged, exhausted, cancelled
}

enum ScopeArgument: String, ExpressibleByArgument, CaseIterable, Sendable { case read, jobs, sessions, admin }

/// A header: `Name: value`.
struct HeaderArgument: ExpressibleByArgument, Sendable {
    let name: String
    let value: String

    init?(argument: String) {
        guard let colon = argument.firstIndex(of: ":"), colon > argument.startIndex else { return nil }
        name = String(argument[..<colon])
        value = String(argument[argument.index(after: colon)...].drop { $0 == " " })
    }
}

extension [HeaderArgument] {
    /// An object with the values of each name joined, in the order of the names; nil without headers.
    var json: JSON? {
        guard !isEmpty else { return nil }
        var object = JSONObject()
        let values = Dictionary(map { ($0.name, $0.value) }) { "\($0), \($1)" }
        for (name, value) in values.sorted(by: { $0.key < $1.key }) { object[name] = .string(value) }
        return .object(object)
    }
}

/// A checksum: `sha-256:HEX`, `sha256:HEX`, or only the digits; their number then determines the algorithm.
struct ChecksumArgument: ExpressibleByArgument, Sendable {
    let algorithm: String
    let value: String

    private static let digits = ["md5": 32, "sha-1": 40, "sha-256": 64, "sha-512": 128]

    init?(argument: String) {
        let parts = argument.split(separator: ":", maxSplits: 1).map(String.init)
        value = parts.last?.lowercased() ?? ""
        let count = value.count
        let named = parts.count == 2 ? Self.algorithm(parts[0].lowercased()) : nil
        let found = parts.count == 2 ? named : Self.digits.first { $0.value == count }?.key
        guard let found, Self.digits[found] == count, value.allSatisfy({ $0.isHexDigit && $0.isASCII }) else {
            return nil
        }
        algorithm = found
    }

    private static func algorithm(_ name: String) -> String? {
        let name = name.hasPrefix("sha") && !name.hasPrefix("sha-") ? "sha-" + name.dropFirst(3) : name
        return digits[name] == nil ? nil : name
    }

    var json: JSON { ["algorithm": .string(algorithm), "value": .string(value)] }
}

/// The destination of a new job. `videos/film.mkv` is a folder and a name, `videos/` only a folder.
struct NewDestination: Sendable, Equatable {
    var location: String?
    var directory: String?
    var filename: String?
    var onConflict: String?
    var staging: String?

    /// - Returns: nil if nothing is given.
    init?(location: String? = nil, path: String?, onConflict: ConflictArgument?, staging: StagingArgument? = nil) {
        self.location = location
        self.staging = staging?.rawValue
        self.onConflict = onConflict?.rawValue
        if let path {
            let parts = path.split(separator: "/", omittingEmptySubsequences: false)
            let folder = parts.dropLast().joined(separator: "/")
            directory = folder.isEmpty ? nil : folder
            filename = parts.last.flatMap { $0.isEmpty ? nil : String($0) }
        }
        if [location, directory, filename, self.onConflict, self.staging].allSatisfy({ $0 == nil }) { return nil }
    }

    var json: JSON {
        var object = JSONObject()
        object.set("location", location)
        object.set("directory", directory)
        object.set("filename", filename)
        object.set("on_conflict", onConflict)
        object.set("staging", staging)
        return .object(object)
    }
}

// MARK: - Numbers and times

/// A value, or `none`, which removes it.
enum Removable<Value: ExpressibleByArgument & Sendable>: ExpressibleByArgument, Sendable {
    case value(Value)
    case none

    init?(argument: String) {
        if argument == "none" {
            self = .none
        } else if let value = Value(argument: argument) {
            self = .value(value)
        } else {
            return nil
        }
    }

    /// The value for a merge patch; null removes the member.
    func json(_ form: (Value) -> JSON) -> JSON {
        switch self {
        case .value(let value): form(value)
        case .none: .null
        }
    }
}

/// A number of bytes, at least 1: `500000`, `500K`, `2M`, `1.5Gi`.
struct ByteCount: ExpressibleByArgument, Sendable {
    let count: Int64

    init?(argument: String) {
        guard let bytes = Quantity.bytes(argument), bytes >= 1, bytes < Self.limit else { return nil }
        count = bytes
    }

    /// The service accepts no larger number.
    private static let limit: Int64 = 1_000_000_000_000_000_000
}

/// A number of seconds above 0: `90`, `90s`, `15m`, `8h`, `30d`, `2w`.
struct DurationArgument: ExpressibleByArgument, Sendable, Equatable {
    let seconds: Double

    init?(argument: String) {
        guard let seconds = Quantity.seconds(argument), seconds > 0, seconds <= Self.longest else { return nil }
        self.seconds = seconds
    }

    /// A hundred years.
    private static let longest = 36_525.0 * 86_400
}

/// A moment: RFC 3339, or in local time `22:00` (the next one) or `2030-01-31 22:00`.
struct MomentArgument: ExpressibleByArgument, Sendable, Equatable {
    /// RFC 3339, as the service takes it.
    let time: String

    init?(argument: String) { self.init(argument, now: Date()) }

    init?(_ text: String, now: Date, zone: TimeZone = .current) {
        guard let date = Date(moment: text, now: now, zone: zone) else { return nil }
        time = Date(rfc3339: text) == nil ? date.rfc3339 : text
    }
}

/// `90d`: a time from now, or before now. Or a moment.
enum ExpiryArgument: ExpressibleByArgument, Sendable, Equatable {
    case after(DurationArgument)
    case at(MomentArgument)

    init?(argument: String) {
        if let moment = MomentArgument(argument: argument) {
            self = .at(moment)
        } else if let duration = DurationArgument(argument: argument) {
            self = .after(duration)
        } else {
            return nil
        }
    }

    func time(from now: Date) -> String { time(now, direction: 1) }

    func time(before now: Date) -> String { time(now, direction: -1) }

    private func time(_ now: Date, direction: Double) -> String {
        switch self {
        case .after(let duration): now.addingTimeInterval(direction * duration.seconds).rfc3339
        case .at(let moment): moment.time
        }
    }
}
