import Engine

extension FileModes {
    /// - Throws: `SettingsError` if a value is invalid.
    init(_ sources: SettingsSources) throws {
        self.init(
            file: try sources.string(.fileMode).map(Self.file),
            folder: try sources.string(.directoryMode).map(Self.folder))
    }

    static func file(_ text: String) throws -> UInt32 {
        try mode(.fileMode, text, least: 0o600, for: "read and write its files")
    }

    static func folder(_ text: String) throws -> UInt32 {
        try mode(.directoryMode, text, least: 0o700, for: "use its folders")
    }

    /// - Parameter least: the permissions that fetchd itself needs.
    private static func mode(
        _ key: Settings.Key, _ text: String, least: UInt32, for purpose: String
    ) throws -> UInt32 {
        guard let mode = UInt32(text, radix: 8), mode <= 0o777, mode & least == least else {
            throw SettingsError(
                "\(key.rawValue) is '\(text)'; it takes permissions as an octal number from 0 to 0777, and fetchd must be able to \(purpose) (0\(String(least, radix: 8)))."
            )
        }
        return mode
    }
}
