/// Why the engine cannot start, or refuses an action.
public enum EngineError: Error, Sendable, Equatable, CustomStringConvertible {
    case downloadsFolderUnusable(path: String, why: String)
    /// The engine is stopping while its disk fails, and no change can be stored.
    case stopped

    public var description: String {
        switch self {
        case .downloadsFolderUnusable(let path, let why):
            "The downloads folder \(path) cannot be used: \(why). Check that it exists and may be written."
        case .stopped: "fetchd is stopping, and its disk fails. Try again when it runs."
        }
    }
}
