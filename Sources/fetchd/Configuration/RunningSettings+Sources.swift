import Configuration
import Formats

extension RunningSettings {
    /// - Throws: `SettingsError` if the setting does not take the value.
    static func check(_ value: JSON, of name: SettingName) throws {
        var settings = RunningSettings()
        try settings.take(value, of: name)
    }

    fileprivate mutating func take(_ value: JSON, of name: SettingName) throws {
        do throws(SettingFault) {
            try set(name, to: value)
        } catch {
            throw SettingsError(error.description)
        }
    }
}

extension StartSettings {
    /// - Throws: `SettingsError` if a value is invalid.
    init(_ sources: SettingsSources) throws {
        var (values, found) = (RunningSettings(), [SettingName: SettingSource]())
        for key in Settings.Key.allCases {
            guard let name = key.running, let value = try sources.value(key) else { continue }
            try values.take(value, of: name)
            found[name] = sources.source(of: key)
        }
        self.init(values, sources: found)
    }

    /// Replaces the values that clients have set, as a start of the service does.
    mutating func take(stored: [String: JSON]) {
        for (text, value) in stored {
            if let name = SettingName(rawValue: text) { try? values.take(value, of: name) }
        }
    }
}
