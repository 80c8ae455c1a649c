/// Why the engine cannot be started.
public enum EngineError: Error, Sendable, Equatable, CustomStringConvertible {
    case downloadsFolderUnusable(path: String, why: String)

    public var description: String {
        switch self {
        case .downloadsFolderUnusable(let path, let why):
            "The downloads folder \(path) cannot be used: \(why). Check that it exists and may be written."
        }
    }
}
