import Glibc

/// The database holds passwords, tokens and webhook secrets, so only the user of the service may read the data folder.
extension DataFolder {
    /// Every permission of the group and of other users.
    private static let shared: mode_t = 0o077

    /// Removes the permissions of other users from the folder and from the files that fetchd writes there.
    ///
    /// - Returns: whether other users had a permission.
    /// - Throws: `folderNotPrivate` if the folder belongs to another user, or if its file system keeps no permissions.
    func makePrivate() throws(StoreError) -> Bool {
        var wasShared = try restrict("\(path)/.", to: 0o700)
        for name in try fileNames() where Self.isOwn(name) {
            wasShared = try restrict("\(path)/\(name)", to: 0o600) || wasShared
        }
        return wasShared
    }

    /// Creates an empty database file that only this user can read. SQLite would let all users read it, and gives the
    /// log and the index the permissions of the database.
    func createDatabase() throws(StoreError) {
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

    func fileNames() throws(StoreError) -> [String] {
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
    static func isOwn(_ name: String) -> Bool { name == "lock" || name.hasPrefix("fetchd.") }
}
