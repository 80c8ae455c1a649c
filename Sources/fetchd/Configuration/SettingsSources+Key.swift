import Sealing

extension SettingsSources {
    /// Where the key comes from that seals secrets.
    var key: KeySource {
        get throws {
            switch (try path(.keyFile), try string(.keyCommand)) {
            case (nil, nil): return .dataFolder
            case (let file?, nil): return .file(file)
            case (nil, let command?):
                try Self.checkKeyCommand(command)
                return .command(command)
            case (_?, _?): throw SettingsError("key_file and key_command are both set; one of them gives the key.")
            }
        }
    }

    static func checkKeyCommand(_ command: String) throws {
        guard command.contains(where: { $0 != " " }) else {
            throw SettingsError("key_command is empty; it takes a program and its arguments.")
        }
    }
}
