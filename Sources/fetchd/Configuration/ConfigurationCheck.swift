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

    let mistakes: [Mistake]

    /// - Throws: `SettingsError` if the file cannot be read.
    init(of path: String) throws {
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
        guard let key = Settings.Key(rawValue: name) else { return "'\(name)' is not a setting of fetchd." }
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
