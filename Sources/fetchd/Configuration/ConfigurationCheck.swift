import Formats
import Foundation

/// Finds all mistakes in a configuration file.
struct ConfigurationCheck {
    struct Mistake: Equatable {
        /// From 1; nil: the mistake is in no single place.
        var line: Int?
        /// A sentence.
        var text: String
    }

    private let path: String
    let mistakes: [Mistake]

    /// - Throws: `SettingsError` if the file cannot be read.
    init(of path: String) throws {
        self.path = path
        let file = try ConfigurationFile(path)
        do throws(JSONFault) {
            let positions = try JSON.memberPositions(in: file.bytes)
            mistakes = Self.mistakes(of: try JSON(parsing: file.bytes), path) { name in
                positions[name].map(file.line)
            }
        } catch {
            mistakes = [Mistake(line: file.line(of: error.offset), text: "\(error.reason).")]
        }
    }

    /// The error for all mistakes of the file, if it is for one of them.
    func completing(_ error: SettingsError) -> SettingsError {
        // What depends on several settings also depends on the other sources.
        let placed = mistakes.filter { $0.line != nil }
        guard placed.contains(where: { $0.text == error.description }) else { return error }
        let lines = placed.map { "\n\(path):\($0.line.map(String.init) ?? ""): \($0.text)" }
        let count = placed.count == 1 ? "a mistake" : "\(placed.count) mistakes"
        return SettingsError("The configuration file has \(count).\(lines.joined())")
    }

    /// The error for a member that is no setting.
    static func unknown(_ name: String) -> SettingsError { SettingsError("'\(name)' is not a setting of fetchd.") }

    private static func mistakes(of value: JSON, _ path: String, _ line: (String) -> Int?) -> [Mistake] {
        guard case .object(let members) = value else {
            return [Mistake(line: 1, text: "The file must hold a JSON object with the settings of fetchd.")]
        }
        let sources = SettingsSources(of: members, in: path)
        var found: [Mistake] = []
        for name in members.names {
            guard let text = mistake(name, sources) else { continue }
            found.append(Mistake(line: line(name), text: text))
        }
        // Settings that depend on each other are only compared if each is valid by itself.
        guard found.isEmpty, let text = message({ try Settings.checkCombinations(sources) }) else { return found }
        return [Mistake(line: nil, text: text)]
    }

    private static func mistake(_ name: String, _ sources: SettingsSources) -> String? {
        guard let key = Settings.Key(rawValue: name) else { return unknown(name).description }
        return message {
            if let value = try sources.value(key) { try key.kind.verify(value, of: key) }
        }
    }

    private static func message(_ check: () throws -> Void) -> String? {
        do {
            try check()
            return nil
        } catch {
            return "\(error)"
        }
    }
}
