import GRDB
import Locks

/// Records which system error caused the last failure of each database file. A result code of SQLite, such as
/// SQLITE_IOERR_FSYNC, does not distinguish a full disk from a broken one. The line in SQLite's error log does.
enum FileErrors {
    /// The `errno` for each absolute path.
    private static let codes = Locked<[String: Int32]>([:])

    /// Must be called before the process opens its first connection: later SQLite ignores the setting.
    static func install() { _ = isInstalled }

    private static let isInstalled: Bool = {
        Database.logError = { _, line in note(line) }
        return true
    }()

    /// - Parameter line: such as `os_unix.c:43765: (28) fsync(/data/fetchd.sqlite-wal) - No space left on device`.
    static func note(_ line: String) {
        guard let match = line.wholeMatch(of: /os_unix\.c:\d+: \((\d+)\) \w+\((.+?)\) - .*/), let code = Int32(match.1)
        else { return }
        codes.withLock { $0[String(match.2)] = code }
    }

    /// Returns and clears the recorded error of the database, its log or its index.
    static func take(ofDatabase path: String) -> Int32? {
        let names = [path, path + "-wal", path + "-shm"]
        return codes.withLock { codes in
            let known = codes.keys.filter { key in names.contains { key == $0 || key.hasSuffix("/" + $0) } }
            return known.compactMap { codes.removeValue(forKey: $0) }.last
        }
    }
}
