import Glibc

/// A folder that somebody named in the settings.
public enum FolderPath {
    /// Makes the folder and its parents where they are missing.
    ///
    /// - Returns: 0, or the `errno` of what could not be made.
    public static func make(_ path: String, mode: mode_t) -> Int32 {
        if mkdir(path, mode) == 0 || errno == EEXIST { return 0 }
        let code = errno
        let parent = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        guard code == ENOENT, !parent.isEmpty else { return code }
        let fault = make(parent, mode: mode)
        if fault != 0 { return fault }
        return mkdir(path, mode) == 0 || errno == EEXIST ? 0 : errno
    }
}
