import HTTPServer

extension UnixSocket {
    /// nil if no source names a socket.
    init?(reading sources: SettingsSources) throws {
        let mode = try Self.mode(try sources.string(.unixSocketMode) ?? Settings.Defaults.unixSocketMode)
        guard let path = try sources.path(.unixSocket) else { return nil }
        self.init(path: path, mode: mode)
    }

    /// - Parameter text: the value of the setting.
    static func mode(_ text: String) throws -> UInt32 {
        guard text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "7") ~= $0 }), let mode = UInt32(text, radix: 8),
            mode <= 0o777
        else {
            throw SettingsError("unix_socket_mode is '\(text)'; it takes permissions in octal, such as 0600 or 0660.")
        }
        return mode
    }
}
