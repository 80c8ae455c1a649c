import Engine

/// The settings for files in the downloads folder.
struct FileSettings: Sendable {
    var minimumFreeBytes: Int?
    var maxFileSize: Int?
    var maxParts: Int?
    var modes: FileModes

    /// - Throws: `SettingsError` if a value is invalid.
    init(_ sources: SettingsSources) throws {
        minimumFreeBytes = try sources.int(.minimumFreeBytes, in: 0...(1 << 60))
        maxFileSize = try sources.int(.maxFileSize, in: 0...(1 << 60))
        maxParts = try sources.int(.maxParts, in: 0...(1 << 60))
        modes = FileModes(
            file: try Self.mode(.fileMode, sources, least: 0o600, for: "read and write its files"),
            folder: try Self.mode(.directoryMode, sources, least: 0o700, for: "use its folders"))
    }

    /// - Parameter least: the permissions that fetchd itself needs.
    private static func mode(
        _ key: Settings.Key, _ sources: SettingsSources, least: UInt32, for purpose: String
    ) throws -> UInt32? {
        guard let text = try sources.string(key) else { return nil }
        guard let mode = UInt32(text, radix: 8), mode <= 0o777, mode & least == least else {
            throw SettingsError(
                "\(key.rawValue) is '\(text)'; it takes permissions as an octal number from 0 to 0777, and fetchd must be able to \(purpose) (0\(String(least, radix: 8)))."
            )
        }
        return mode
    }
}
