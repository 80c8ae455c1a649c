import Glibc

/// Creates folders that a setting names.
public enum FolderPath {
    /// Creates the folder and its missing parents, and syncs the name of each.
    ///
    /// - Parameter mode: of the folder. Everyone may enter the parents, which can also have folders of other services.
    /// - Returns: 0, or the `errno` of the folder that could not be created or of the parent that could not be synced.
    public static func make(_ path: String, mode: mode_t) -> Int32 {
        let parent = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        if mkdir(path, mode) == 0 { return sync(parent.isEmpty ? (path.hasPrefix("/") ? "/" : ".") : parent) }
        let code = errno
        if code == EEXIST { return 0 }
        guard code == ENOENT, !parent.isEmpty else { return code }
        let fault = make(parent, mode: 0o755)
        if fault != 0 { return fault }
        if mkdir(path, mode) == 0 { return sync(parent) }
        return errno == EEXIST ? 0 : errno
    }

    /// The folder of a file, as `dirname` names it.
    static func parent(of path: String) -> String {
        let parent = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        return parent.isEmpty ? (path.hasPrefix("/") ? "/" : ".") : parent
    }

    /// The name of a file in its folder.
    static func name(of path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

    /// Syncs the parent. Without this, a power loss can remove the new folder and every file that was synced in it.
    private static func sync(_ parent: String) -> Int32 {
        let folder = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return errno }
        defer { close(folder) }
        return fsync(folder) == 0 ? 0 : errno
    }
}
