import CCrypto
import Glibc

/// Where a store gets its key from.
public enum KeySource: Sendable, Equatable {
    /// The file `fetchd.key` of the data folder, which is created if it is missing.
    case dataFolder
    /// A file that the administrator has created.
    case file(String)
    /// A command that prints the key. It is split at blanks and runs without a shell.
    case command(String)

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

    public func description(inDataFolder folder: String) -> String {
        switch self {
        case .dataFolder: "the key file \(Self.file(inDataFolder: folder).path)"
        case .file(let path): "the key file \(path)"
        case .command: "the key of --key-command"
        }
    }

    private static func creation(of path: String) -> String { "(umask 077; openssl rand -base64 32 > \(path))" }
}

/// A file with keys: 32 bytes in base64 on each line. Usually it has one key. While a rotation is under way, it has the
/// old key and the new one.
public struct KeyFile: Sendable, Equatable {
    public let path: String

    public init(path: String) { self.path = path }

    /// - Returns: at least one key; nil if there is no such file.
    /// - Throws: `KeyError` if other users have permissions on the file, if it does not contain keys, and if it is a link to a
    ///   file that is missing, such as one on a disk that is not mounted yet.
    public func read() throws(KeyError) -> [SealingKey]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        if descriptor < 0 {
            let code = errno
            guard code == ENOENT else { throw .file(path, code) }
            try requireNoLink()
            return nil
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .file(path, errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw KeyError("The key file \(path) is not a file.") }
        guard status.st_mode & 0o077 == 0 else {
            throw KeyError("Other users have permissions on the key file \(path). Run 'chmod 600 \(path)'.")
        }
        var text = [UInt8](repeating: 0, count: Self.longest + 1)
        defer { OPENSSL_cleanse(&text, text.count) }
        let count = Glibc.read(descriptor, &text, text.count)
        guard count >= 0 else { throw .file(path, errno) }
        guard let keys = Self.keys(in: text[..<count]) else {
            throw KeyError("The key file \(path) must contain a key: 32 bytes in base64, on one line.")
        }
        return keys
    }

    /// The file is missing. Through a link, a key that is only away for a moment would be taken for one that never was.
    private func requireNoLink() throws(KeyError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        throw KeyError(
            "The key file \(path) is a link, and the file that it names does not exist. Make that file available, for example mount its file system. If there is no key yet, remove the link."
        )
    }

    /// The keys in a text; nil if there is none, or if a line is no key.
    static func keys(in text: ArraySlice<UInt8>) -> [SealingKey]? {
        guard text.count <= longest else { return nil }
        let lines = text.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
        let keys = lines.compactMap { SealingKey(base64: $0) }
        return keys.isEmpty || keys.count != lines.count ? nil : keys
    }

    /// The limit in bytes. More keys are a mistake.
    static let longest = 4096

    /// Creates or replaces the file, durably: after a power loss it has the former keys or these.
    public func write(_ keys: [SealingKey]) throws(KeyError) {
        // A link stays, and the file that it names is replaced.
        let path = resolved
        let draft = path + ".new"
        unlink(draft)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .file(draft, errno) }
        defer { close(descriptor) }
        do throws(KeyError) {
            try keepOwner(of: path, for: descriptor)
            var text = keys.flatMap { $0.base64 + [UInt8(ascii: "\n")] }
            defer { OPENSSL_cleanse(&text, text.count) }
            guard Glibc.write(descriptor, text, text.count) == text.count, fsync(descriptor) == 0,
                rename(draft, path) == 0
            else { throw .file(path, errno) }
        } catch {
            unlink(draft)
            throw error
        }
        try syncFolder(of: path)
    }

    private var resolved: String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    /// An administrator may replace the key of a service that runs as another user.
    private func keepOwner(of path: String, for descriptor: Int32) throws(KeyError) {
        var status = stat()
        guard stat(path, &status) == 0 else { return }
        guard status.st_uid == geteuid() || fchown(descriptor, status.st_uid, status.st_gid) == 0 else {
            throw .file(path, errno)
        }
    }

    /// Makes the name of the file durable.
    private func syncFolder(of path: String) throws(KeyError) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        let folder = parts.isEmpty ? "." : parts == [""] ? "/" : parts.joined(separator: "/")
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .file(folder, errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .file(folder, errno) }
    }
}

/// A key cannot be read or written. The description is a sentence.
public struct KeyError: Error, Sendable, Equatable, CustomStringConvertible {
    public let description: String
    init(_ description: String) { self.description = description }

    /// The error of a system call on a file.
    static func file(_ path: String, _ code: Int32) -> KeyError {
        KeyError("The key file \(path) cannot be used: \(String(cString: strerror(code))).")
    }
}
