import Downloads

extension SettingsSources {
    /// The session of aria2's interface; nil: the interface is off.
    var aria2Session: Name? {
        get throws {
            let name = try Self.aria2Session(try string(.aria2Session) ?? Settings.Defaults.aria2Session)
            return try bool(.aria2RPC) ?? false ? name : nil
        }
    }

    static func aria2Session(_ text: String) throws -> Name {
        guard let name = Name(text) else {
            throw SettingsError("aria2_session is '\(text)'; a name has 1 to 128 of the characters A-Z a-z 0-9 . _ -.")
        }
        return name
    }
}
