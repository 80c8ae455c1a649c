import Downloads

/// Why the engine cannot start, or refuses an action.
public enum EngineError: Error, Sendable, Equatable, CustomStringConvertible {
    case downloadsFolderUnusable(path: String, why: String)
    /// Another service has the folder.
    case downloadsFolderInUse(path: String)
    /// Another database has used the folder, and its file system has no locks.
    case downloadsFolderUncertain(path: String)
    /// The engine is stopping: it begins no further step of an action, or its disk fails and no change can be stored.
    case stopped

    public var description: String {
        switch self {
        case .downloadsFolderUnusable(let path, let why):
            "The downloads folder \(path) cannot be used: \(why). Check that it exists and may be written."
        case .downloadsFolderInUse(let path):
            "The downloads folder \(path) belongs to another fetchd that is running. Each would remove the unfinished downloads of the other. Stop it, or start this one with another --downloads-dir. Only services of one PostgreSQL database can share a folder, if all of them are started with --downloads shared."
        case .downloadsFolderUncertain(let path):
            "The downloads folder \(path) was last used with another database, and its file system has no locks, which would show whether that fetchd is still running. If none is, remove \(path)/\(FilePathRule.partsDirectory)/\(FolderClaim.name) and start again: fetchd then takes the folder. Otherwise name another --downloads-dir."
        case .stopped: "fetchd is stopping, and has not done all of it. Try again when it runs."
        }
    }
}
