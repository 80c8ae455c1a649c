import GRDB
import Locks

/// Which error of the system was behind the last failure of each database file. A result code of SQLite, such as
/// SQLITE_IOERR_FSYNC, does not tell a full disk from a broken one; the line that SQLite writes to its error log does.
enum FileErrors {
    /// `errno` by the absolute path of the file.
    private static let codes = Locked<[String: Int32]>([:])

    /// Before the first connection of the process: afterwards SQLite ignores it.
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

    /// The error of the database, its log or its index, since it was last asked for.
    static func take(ofDatabase path: String) -> Int32? {
        let names = [path, path + "-wal", path + "-shm"]
        return codes.withLock { codes in
            let known = codes.keys.filter { key in names.contains { key == $0 || key.hasSuffix("/" + $0) } }
            return known.compactMap { codes.removeValue(forKey: $0) }.last
        }
    }
}
