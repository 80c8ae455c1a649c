/// Why the engine cannot be started, or does not carry out what it was asked.
public enum EngineError: Error, Sendable, Equatable, CustomStringConvertible {
    case downloadsFolderUnusable(path: String, why: String)
    /// It stops, and nothing changes any more.
    case stopped

    public var description: String {
        switch self {
        case .downloadsFolderUnusable(let path, let why):
            "The downloads folder \(path) cannot be used: \(why). Check that it exists and may be written."
        case .stopped: "fetchd is stopping, and its disk fails. Try again when it runs."
        }
    }
}
