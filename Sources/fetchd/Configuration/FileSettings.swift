import Engine

/// The settings for files in the downloads folder.
struct FileSettings: Sendable {
    var minimumFreeBytes: Int?
    var maxFileSize: Int?
    var maxParts: Int?
    var modes: FileModes

    /// - Throws: `SettingsError` if a value is invalid.
    init(_ sources: SettingsSources) throws {
        minimumFreeBytes = try sources.int(.minimumFreeBytes)
        maxFileSize = try sources.int(.maxFileSize)
        maxParts = try sources.int(.maxParts)
        modes = FileModes(
            file: try sources.string(.fileMode).map(Self.fileMode),
            folder: try sources.string(.directoryMode).map(Self.directoryMode))
    }

    static func fileMode(_ text: String) throws -> UInt32 {
        try mode(.fileMode, text, least: 0o600, for: "read and write its files")
    }

    static func directoryMode(_ text: String) throws -> UInt32 {
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
