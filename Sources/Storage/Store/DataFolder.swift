import Glibc

/// The data folder of one service. An exclusive lock on it is held while this value lives: two services on one database
/// would both admit the same jobs.
package final class DataFolder: Sendable {
    package let files: DataFiles
    private let lock: Int32

    package init(at path: String) throws(StoreError) {
        let fault = FolderPath.make(path, mode: 0o700)
        guard fault == 0 else { throw .folder(path, fault) }
        let descriptor = open(DataFiles(path: path).lock, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .folder(path, errno) }
        // The kernel releases the lock when the process ends in any way.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(descriptor)
            if code == EWOULDBLOCK { throw .folderInUse(path: path) }
            throw .folder(path, code)
        }
        files = DataFiles(path: path)
        lock = descriptor
    }

    package var path: String { files.path }
    package var database: String { files.database }
    package var log: String { files.log }
    package var index: String { files.index }
    package var mark: String { files.mark }

    /// The size of a file in bytes; nil when the file does not exist.
    package func size(of file: String) throws(StoreError) -> Int64? {
        var status = stat()
        if stat(file, &status) == 0 { return Int64(status.st_size) }
        if errno == ENOENT { return nil }
        throw .folder(path, errno)
    }

    /// Whether the file system has no space for a new log and index.
    package var isFull: Bool {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return false }
        let lacksFiles = status.f_files > 0 && status.f_favail == 0
        return lacksFiles || UInt64(status.f_bavail) * UInt64(status.f_frsize) < Self.leastRoom
    }

    /// Bytes. The index takes 32 KiB, and the log about as much.
    private static let leastRoom: UInt64 = 128 << 10

    /// Syncs the folder, so that the names of new files are durable.
    package func sync() throws(StoreError) { try sync(file: path) }

    /// Syncs the content of a file.
    package func sync(file: String) throws(StoreError) {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .folder(path, errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .folder(path, errno) }
    }

    package func rename(_ file: String, to other: String) throws(StoreError) {
        guard Glibc.rename(file, other) == 0 else { throw .folder(path, errno) }
    }

    /// The device and the inode of the file with the lock; nil if the system does not tell them.
    package var lockFile: String? {
        var status = stat()
        return fstat(lock, &status) == 0 ? "\(status.st_dev):\(status.st_ino)" : nil
    }

    /// The path without links; the given one if the system does not tell it.
    package var absolutePath: String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    /// Releases the lock, so that another service can use the folder. Closing the descriptor would not release it while
    /// a forked child still has a copy.
    package func release() { flock(lock, LOCK_UN) }

    deinit {
        release()
        close(lock)
    }
}

/// The database holds passwords, tokens and webhook secrets, so only the user of the service may read the data folder.
extension DataFolder {
    /// Every permission of the group and of other users.
    private static let shared: mode_t = 0o077

    /// Removes the permissions of other users from the folder and from the files that fetchd writes there.
    ///
    /// - Returns: whether other users had a permission.
    /// - Throws: `folderNotPrivate` if the folder belongs to another user, or if its file system keeps no permissions.
    package func makePrivate() throws(StoreError) -> Bool {
        var wasShared = try restrict("\(path)/.", to: 0o700)
        for name in try fileNames() where Self.isOwn(name) {
            wasShared = try restrict("\(path)/\(name)", to: 0o600) || wasShared
        }
        return wasShared
    }

    /// Creates an empty database file that only this user can read. SQLite would let all users read it, and gives the
    /// log and the index the permissions of the database.
    package func createDatabase() throws(StoreError) {
        let descriptor = open(database, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .folder(path, errno) }
        close(descriptor)
    }

    private func restrict(_ file: String, to mode: mode_t) throws(StoreError) -> Bool {
        guard try isShared(file) else { return false }
        guard chmod(file, mode) == 0, try !isShared(file) else { throw .folderNotPrivate(path: path) }
        return true
    }

    private func isShared(_ file: String) throws(StoreError) -> Bool {
        var status = stat()
        guard lstat(file, &status) == 0 else {
            // SQLite removes its log and its index.
            if errno == ENOENT { return false }
            throw .folder(path, errno)
        }
        // The permissions of a symbolic link have no meaning, and fetchd creates none here.
        guard status.st_mode & S_IFMT != S_IFLNK else { return false }
        return status.st_mode & Self.shared != 0
    }

    package func fileNames() throws(StoreError) -> [String] {
        guard let folder = opendir(path) else { throw .folder(path, errno) }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in bytes.prefix { $0 != 0 }.map(\.self) }
            names.append(String(decoding: name, as: UTF8.self))
        }
        return names
    }

    /// The lock, the mark, the database, its log and index, and what a restore or an upgrade has kept.
    package static func isOwn(_ name: String) -> Bool { name == "lock" || name.hasPrefix("fetchd.") }
}

/// The paths of the files in a data folder.
package struct DataFiles: Sendable {
    package let path: String

    package init(path: String) { self.path = path }

    package var database: String { path + "/fetchd.sqlite" }
    /// The write-ahead log of SQLite.
    package var log: String { database + "-wal" }
    /// The shared-memory index of SQLite. No data in it is needed after the connections are closed.
    package var index: String { database + "-shm" }
    package var mark: String { path + "/fetchd.mark" }
    /// The list of an import that has not ended.
    package func list(_ id: ImportID) -> String { path + "/" + Self.listPrefix + id.text }
    package static let listPrefix = "fetchd.list."
    /// A running service holds an exclusive lock on it.
    package var lock: String { path + "/lock" }
}

/// Creates folders that a setting names.
public enum FolderPath {
    /// Creates the folder and its missing parents, and syncs the name of each.
    ///
    /// - Parameter mode: of the folder. Everyone may enter the parents, which can also have folders of other services.
    /// - Returns: 0, or the `errno` of the folder that could not be created or of the parent that could not be synced.
    public static func make(_ path: String, mode: mode_t) -> Int32 {
        let parent = parent(of: path)
        if mkdir(path, mode) == 0 { return sync(parent) }
        let code = errno
        if code == EEXIST { return 0 }
        guard code == ENOENT, parent != path, parent != "." else { return code }
        let fault = make(parent, mode: 0o755)
        if fault != 0 { return fault }
        if mkdir(path, mode) == 0 { return sync(parent) }
        return errno == EEXIST ? 0 : errno
    }

    /// The folder of a file, as `dirname` names it.
    package static func parent(of path: String) -> String {
        let parent = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        return parent.isEmpty ? (path.hasPrefix("/") ? "/" : ".") : parent
    }

    /// The name of a file in its folder.
    package static func name(of path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

    /// Syncs the parent. Without this, a power loss can remove the new folder and every file that was synced in it.
    ///
    /// - Returns: 0, or the `errno`.
    package static func sync(_ parent: String) -> Int32 {
        let folder = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return errno }
        defer { close(folder) }
        return fsync(folder) == 0 ? 0 : errno
    }
}
