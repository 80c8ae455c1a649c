import Formats
import Foundation

/// The sources of the settings, in order of precedence: options, the environment, the file of `--config`.
struct SettingsSources {
    /// A value from a source. Options and the file have typed values; the environment has only text.
    private enum Given {
        case value(JSON)
        case text(String)
    }

    private let sources: [(name: String, look: (Settings.Key) -> Given?)]

    init(
        flags: [Settings.Key: JSON], configFile: String?,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws {
        var sources: [(name: String, look: (Settings.Key) -> Given?)] = [
            ("an option", { flags[$0].map(Given.value) }),
            ("the environment", { environment[$0.environmentName].map(Given.text) }),
        ]
        if let file = configFile ?? environment["FETCHD_CONFIG"] {
            let members = try Self.read(file)
            sources.append((file, { members[$0.rawValue].map(Given.value) }))
        }
        self.sources = sources
    }

    private static func read(_ path: String) throws -> JSONObject {
        let file: JSON
        do {
            file = try JSON(parsing: Array(Data(contentsOf: URL(fileURLWithPath: path))))
        } catch let error as JSONFault {
            throw SettingsError("The configuration file \(path) cannot be read: \(error)")
        } catch {
            throw SettingsError("The configuration file \(path) cannot be read: \(error.localizedDescription)")
        }
        guard case .object(let members) = file else {
            throw SettingsError("\(path) must hold a JSON object with the settings of fetchd.")
        }
        if let unknown = members.names.sorted().first(where: { Settings.Key(rawValue: $0) == nil }) {
            throw SettingsError("\(path) contains '\(unknown)', which is not a setting of fetchd.")
        }
        return members
    }

    func string(_ key: Settings.Key) throws -> String? {
        try value(key, "a string") { given in
            switch given {
            case .value(.string(let text)), .text(let text): text
            case .value: nil
            }
        }
    }

    func path(_ key: Settings.Key) throws -> String? {
        let path = try string(key)
        if path?.isEmpty ?? false { throw SettingsError("\(key.rawValue) is empty; it takes a path.") }
        return path
    }

    func int(_ key: Settings.Key, in range: ClosedRange<Int>) throws -> Int? {
        let kind = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        let number = try value(key, kind) { given in
            switch given {
            case .value(.integer(let number)): Int(number)
            case .value: nil
            case .text(let text): Int(text)
            }
        }
        if let number, !range.contains(number) {
            throw SettingsError("\(key.rawValue) is \(number); it must be \(kind).")
        }
        return number
    }

    /// At most ten years, so that the sum of a time and a setting is still a valid time.
    func seconds(_ key: Settings.Key) throws -> Double? {
        let kind = "a number of seconds from 0 to \(Int(Self.mostSeconds))"
        let seconds = try value(key, kind) { given in
            switch given {
            case .value(.number(let number)): number
            case .value(.integer(let number)): Double(number)
            case .value: nil
            case .text(let text): Double(text)
            }
        }
        if let seconds, !(0...Self.mostSeconds).contains(seconds) {
            throw SettingsError("\(key.rawValue) is \(seconds); it must be \(kind).")
        }
        return seconds
    }

    private static let mostSeconds = 315_360_000.0

    func bool(_ key: Settings.Key) throws -> Bool? {
        try value(key, "true or false") { given in
            switch given {
            case .value(.bool(let bool)): bool
            case .value: nil
            case .text(let text):
                switch text.lowercased() {
                case "true", "yes", "1": true
                case "false", "no", "0": false
                default: nil
                }
            }
        }
    }

    /// - Returns: an empty list if no source has the setting.
    func strings(_ key: Settings.Key) throws -> [String] {
        let texts = try value(key, "a list of strings") { given in
            switch given {
            case .value(.array(let elements)): Self.strings(elements)
            case .value: nil
            case .text(let text): text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            }
        }
        return (texts ?? []).filter { !$0.isEmpty }
    }

    /// - Returns: nil if an element is not a string.
    private static func strings(_ elements: [JSON]) -> [String]? {
        let strings = elements.compactMap { if case .string(let text) = $0 { text } else { nil } }
        return strings.count == elements.count ? strings : nil
    }

    /// - Parameter read: returns nil if the value has another type.
    private func value<Value>(_ key: Settings.Key, _ kind: String, _ read: (Given) -> Value?) throws -> Value? {
        for (name, look) in sources {
            guard let given = look(key) else { continue }
            guard let value = read(given) else {
                throw SettingsError("\(key.rawValue), set by \(name), must be \(kind).")
            }
            return value
        }
        return nil
    }
}
