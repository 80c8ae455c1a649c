import Formats
import Foundation
import Glibc
import Logging
import Synchronization

/// Writes the log of the service, one fact a line. docs/monitoring.md describes the two formats and the fields.
public struct LineLogHandler: LogHandler {
    private let format: LogFormat
    private let lowest: LogLevel
    private let output: LogOutput
    public var metadata: Logger.Metadata = [:]
    public var metadataProvider: Logger.MetadataProvider?

    /// - Parameter level: is read for every line. To set the level of a logger with this handler changes it for all.
    public init(_ format: LogFormat, from level: LogLevel, to output: LogOutput) {
        self.format = format
        lowest = level
        self.output = output
    }

    public var logLevel: Logger.Level {
        get { lowest.level }
        set { lowest.level = newValue }
    }

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    public func log(event: LogEvent) {
        var fields = metadata.merging(event.metadata ?? [:]) { $1 }
        if let error = event.error { fields["error"] = "\(error)" }
        let line = LogLine(
            time: Date(), level: event.level, source: event.source, message: "\(event.message)", fields: fields)
        output.add(line.bytes(as: format))
    }
}

/// The form of the lines of the log.
public enum LogFormat: String, Sendable, CaseIterable {
    /// People read it: time, level, message, fields.
    case text
    /// Machines read it: a JSON object in each line.
    case json
}

/// The lowest level that is logged. It can change while the service runs: all loggers of a handler that uses it follow.
public final class LogLevel: Sendable {
    private let number: Atomic<Int>

    public init(_ level: Logger.Level) { number = Atomic(level.number) }

    /// The level of this process.
    public static let ofProcess = LogLevel(.info)

    public var level: Logger.Level {
        get { Logger.Level.allCases[number.load(ordering: .relaxed)] }
        set { number.store(newValue.number, ordering: .relaxed) }
    }
}

extension Logger.Level {
    fileprivate var number: Int { Self.allCases.firstIndex(of: self)! }
}

/// Where the lines of the log go. Each line is written with one call, so that lines of several threads do not mix.
public final class LogOutput: Sendable {
    private let turn = Locked(())
    private let write: @Sendable ([UInt8]) -> Void

    /// - Parameter write: called for one line at a time, with its end.
    public init(_ write: @escaping @Sendable ([UInt8]) -> Void) { self.write = write }

    /// Standard error. A line that cannot be written is dropped: there is no other place to report that.
    public static let standardError = LogOutput { line in
        var rest = line[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
            if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { return }
        }
    }

    func add(_ line: [UInt8]) { turn.withLock { _ in write(line) } }
}

/// One line of the log. Its message and its fields may contain anything, also text that a client or a server has sent:
/// they can neither begin another line nor control a terminal.
struct LogLine {
    var time: Date
    var level: Logger.Level
    /// The module that logs.
    var source: String
    var message: String
    var fields: Logger.Metadata

    /// The bytes of the line, with its end.
    func bytes(as format: LogFormat) -> [UInt8] {
        switch format {
        case .text: Array((text + "\n").utf8)
        case .json: Array((json + "\n").utf8)
        }
    }

    private var text: String {
        var line = "\(time.rfc3339) \(level) [\(source)] \(Self.escaped(message))"
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) { line += " \(name)=\(Self.quoted("\(value)"))" }
        return line
    }

    private var json: String {
        var object: JSONObject = [
            "time": .time(time), "level": .string(level.rawValue), "message": .string(message),
            "source": .string(source),
        ]
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) { object[name] = Self.json(value) }
        // Outside of strings, JSON has none of these characters.
        return Self.escaping(JSON.object(object).written) { "\\u" + $0.value.digits(4, radix: 16) }
    }

    private static func json(_ value: Logger.MetadataValue) -> JSON {
        switch value {
        case .string(let text): .string(text)
        case .stringConvertible(let number as Int): .integer(Int64(number))
        case .stringConvertible(let number as Int64): .integer(number)
        case .stringConvertible(let number as Double): .number(number)
        case .stringConvertible(let truth as Bool): .bool(truth)
        case .stringConvertible(let other): .string("\(other)")
        case .array(let values): .array(values.map(json))
        case .dictionary(let members):
            .object(
                members.sorted { $0.key < $1.key }.reduce(into: JSONObject()) { $0[$1.key] = json($1.value) })
        }
    }

    /// The value, in quotation marks unless it is one word.
    private static func quoted(_ value: String) -> String {
        let isWord = !value.isEmpty && value.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
        guard !isWord else { return value }
        return "\"" + escaped(value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")) + "\""
    }

    private static func escaped(_ text: String) -> String {
        escaping(text) { scalar in
            switch scalar {
            case "\n": "\\n"
            case "\r": "\\r"
            case "\t": "\\t"
            default: "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
    }

    /// Replaces the characters that end a line, control a terminal or change the order in which text is shown.
    private static func escaping(_ text: String, _ form: (Unicode.Scalar) -> String) -> String {
        guard text.unicodeScalars.contains(where: isDangerous) else { return text }
        var safe = ""
        for scalar in text.unicodeScalars {
            if isDangerous(scalar) { safe += form(scalar) } else { safe.unicodeScalars.append(scalar) }
        }
        return safe
    }

    private static func isDangerous(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // C0 and DEL with C1; the separators of lines and paragraphs; the controls of text direction (UAX #9).
        case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029, 0x200E, 0x200F, 0x061C, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}

/// Decides which failures of a repeated operation get a line in the log: the first one, and later one a minute. While the
/// database is away, many operations fail every second.
public struct RepeatedFailures: Sendable {
    private var count = 0
    /// The uptime from which the next failure gets a line; nil: none was noted.
    private var nextLine: Duration?

    public init() {}

    /// Notes a failure.
    ///
    /// - Parameter uptime: the time since the start of the machine.
    /// - Returns: the number of failures since the last line, with this one; nil if it gets no line.
    public mutating func note(at uptime: Duration) -> Int? {
        count += 1
        if let nextLine, uptime < nextLine { return nil }
        defer {
            count = 0
            nextLine = uptime + Self.interval
        }
        return count
    }

    /// The operation has succeeded. The next failure gets a line.
    ///
    /// - Returns: whether a failure was noted.
    public mutating func end() -> Bool {
        defer { self = RepeatedFailures() }
        return nextLine != nil
    }

    /// Completes the line of a failure.
    ///
    /// - Parameter count: see `note`.
    public static func suffix(_ count: Int) -> String {
        count == 1 ? "" : " (\(count) failures since the last such line)"
    }

    private static let interval: Duration = .seconds(60)
}
