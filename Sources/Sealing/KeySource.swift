/// Where a store gets its key from.
public enum KeySource: Sendable, Equatable {
    /// The file `fetchd.key` of the data folder, which is created if it is missing.
    case dataFolder
    /// A file that the administrator has created.
    case file(String)
    /// A command that prints the key. It is split at blanks and runs without a shell.
    case command(String)

    /// - Parameter folder: the path of the data folder.
    /// - Returns: nil if the data folder has no key file.
    public func keys(inDataFolder folder: String) throws(KeyError) -> [SealingKey]? {
        switch self {
        case .dataFolder: return try Self.file(inDataFolder: folder).read()
        case .file(let path):
            guard let keys = try KeyFile(path: path).read() else {
                throw KeyError("There is no key file \(path). To create one, run: \(Self.creation(of: path))")
            }
            return keys
        case .command(let command): return [try KeyCommand(command).run()]
        }
    }

    public static func file(inDataFolder folder: String) -> KeyFile { KeyFile(path: folder + "/fetchd.key") }

    /// For messages.
    public func description(inDataFolder folder: String) -> String {
        switch self {
        case .dataFolder: "the key file \(Self.file(inDataFolder: folder).path)"
        case .file(let path): "the key file \(path)"
        case .command: "the key of --key-command"
        }
    }

    private static func creation(of path: String) -> String { "(umask 077; openssl rand -base64 32 > \(path))" }
}
