/// Why the engine cannot start, or refuses an action.
public enum EngineError: Error, Sendable, Equatable, CustomStringConvertible {
    case downloadsFolderUnusable(path: String, why: String)
    /// The engine is stopping: it begins no further step of an action, or its disk fails and no change can be stored.
    case stopped

    public var description: String {
        switch self {
        case .downloadsFolderUnusable(let path, let why):
            "The downloads folder \(path) cannot be used: \(why). Check that it exists and may be written."
        case .stopped: "fetchd is stopping, and has not done all of it. Try again when it runs."
        }
    }
}
