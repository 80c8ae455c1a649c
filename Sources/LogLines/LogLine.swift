import Formats
import Foundation
import Logging

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
        return Self.escaping(JSON.object(object).written) { scalar in
            "\\u" + String(repeating: "0", count: 4 - String(scalar.value, radix: 16).count)
                + String(scalar.value, radix: 16)
        }
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
