import Formats

/// A merge patch of the settings (RFC 7396): a value replaces the setting, and nil restores the value at the start.
public struct SettingsPatch: Sendable {
    /// Valid, and in the form in which documents show them.
    let values: [(name: SettingName, value: JSON?)]

    /// - Throws: if a value cannot be used.
    public init(_ values: [(name: SettingName, value: JSON?)]) throws(SettingFault) {
        var checked: [(name: SettingName, value: JSON?)] = []
        for (name, value) in values {
            guard let value else {
                checked.append((name, nil))
                continue
            }
            var settings = RunningSettings()
            try settings.set(name, to: value)
            checked.append((name, settings[name]))
        }
        self.values = checked
    }
}
