import Configuration
import Foundation

/// Where settings come from, the strongest first. A value of the wrong kind is an error here; swift-configuration's own
/// reader would pass over it in silence.
struct SettingsSources {
    private typealias Lookup = (AbsoluteConfigKey, ConfigType) throws -> LookupResult
    private let sources: [(name: String, lookup: Lookup)]

    init(flags: [AbsoluteConfigKey: ConfigValue], configFile: String?) throws {
        let environment = EnvironmentVariablesProvider()
        var sources: [(name: String, lookup: Lookup)] = [
            ("an option", InMemoryProvider(values: flags).value),
            ("the environment", environment.prefixKeys(with: "fetchd").value),
        ]
        if let file = try configFile ?? environment.environmentValue(forName: "FETCHD_CONFIG") {
            sources.append((file, try Self.read(file).value))
        }
        self.sources = sources
    }

    private static func read(_ path: String) throws -> JSONSnapshot {
        do {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            guard let members = try JSONSerialization.jsonObject(with: bytes) as? [String: Any] else {
                throw SettingsError("\(path) must hold a JSON object with settings of fetchd.")
            }
            if let stranger = members.keys.sorted().first(where: { Settings.Key(rawValue: $0) == nil }) {
                throw SettingsError("\(path) holds '\(stranger)', which is no setting of fetchd.")
            }
            return try JSONSnapshot(data: bytes.bytes, providerName: path, parsingOptions: .default)
        } catch let error as SettingsError {
            throw error
        } catch {
            throw SettingsError("The configuration file \(path) cannot be read: \(error.localizedDescription)")
        }
    }

    func string(_ key: Settings.Key) throws -> String? {
        guard case .string(let text)? = try content(key, .string, "a string") else { return nil }
        return text
    }

    func path(_ key: Settings.Key) throws -> String? {
        let path = try string(key)
        if path?.isEmpty ?? false { throw SettingsError("\(key.rawValue) is empty; it takes the path of a folder.") }
        return path
    }

    func int(_ key: Settings.Key, in range: ClosedRange<Int>) throws -> Int? {
        let kind = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        guard case .int(let number)? = try content(key, .int, kind) else { return nil }
        guard range.contains(number) else { throw SettingsError("\(key.rawValue) is \(number); it must be \(kind).") }
        return number
    }

    /// Up to ten years, so that sums of times stay times.
    func seconds(_ key: Settings.Key) throws -> Double? {
        let kind = "a number of seconds from 0 to \(Int(Self.mostSeconds))"
        guard case .double(let seconds)? = try content(key, .double, kind) else { return nil }
        guard (0...Self.mostSeconds).contains(seconds) else {
            throw SettingsError("\(key.rawValue) is \(seconds); it must be \(kind).")
        }
        return seconds
    }

    private static let mostSeconds = 315_360_000.0

    func bool(_ key: Settings.Key) throws -> Bool? {
        guard case .bool(let bool)? = try content(key, .bool, "true or false") else { return nil }
        return bool
    }

    /// Empty where none is given.
    func strings(_ key: Settings.Key) throws -> [String] {
        guard case .stringArray(let texts)? = try content(key, .stringArray, "a list of strings") else { return [] }
        return texts.filter { !$0.isEmpty }
    }

    private func content(_ key: Settings.Key, _ type: ConfigType, _ kind: String) throws -> ConfigContent? {
        for (name, lookup) in sources {
            do {
                if let value = try lookup(key.key, type).value { return value.content }
            } catch {
                throw SettingsError("\(key.rawValue), given by \(name), must be \(kind).")
            }
        }
        return nil
    }
}
