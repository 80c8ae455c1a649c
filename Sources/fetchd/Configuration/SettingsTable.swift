import ArgumentParser
import Formats

/// The table of all settings in docs/configuration.md, made from the options of `fetchd serve` and their help.
struct SettingsTable {
    /// The help of the options, by their names.
    private let help: [String: String]

    init() throws {
        let arguments = try JSON(parsing: ServeCommand._dumpHelp()).objectValue?["command"]?.objectValue?["arguments"]
        help = (arguments?.arrayValue ?? []).reduce(into: [:]) { help, argument in
            let members = argument.objectValue
            for name in members?["names"]?.arrayValue ?? [] {
                guard let name = name.objectValue?["name"]?.stringValue else { continue }
                help[name] = members?["abstract"]?.stringValue
            }
        }
    }

    var text: String {
        let head = [
            "| option | environment variable | key in the file | default | values | while running | meaning |",
            "|---|---|---|---|---|---|---|",
        ]
        return (head + Settings.Key.allCases.map(row)).joined(separator: "\n")
    }

    private func row(_ key: Settings.Key) -> String {
        let option = key.rawValue.replacing("_", with: "-")
        let (meaning, value) = split(help[option] ?? Self.tokenHelp)
        let cells = [
            help[option] == nil ? "none" : "`--\(option)`", "`\(key.environmentName)`", "`\(key.rawValue)`", value,
            key.kind.values, key.running == nil ? "no" : "yes", meaning,
        ]
        return "| \(cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ")) |"
    }

    /// Other users of the machine can read command lines.
    private static let tokenHelp = "The first administrator's token. It has no option. (default: none)"

    /// The help of an option without its default, and the default.
    private func split(_ help: String) -> (meaning: String, value: String) {
        guard let mark = help.firstRange(of: " (default: "), help.hasSuffix(")") else { return (help, "") }
        return (String(help[..<mark.lowerBound]), String(help[mark.upperBound...].dropLast()))
    }
}

extension Settings.Key.Kind {
    /// For the table.
    fileprivate var values: String {
        switch self {
        case .text: "text"
        case .path: "path"
        case .integer(let range): "\(range.lowerBound) to \(range.upperBound)"
        case .bytes: "bytes"
        case .seconds: "duration"
        case .flag: "`true`, `false`"
        case .texts: "list"
        }
    }
}
