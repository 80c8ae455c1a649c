import Logging
import Synchronization

/// The lowest level that is logged. It can change while the service runs: all loggers of a handler that uses it follow.
public final class LogLevel: Sendable {
    private let number: Atomic<Int>

    public init(_ level: Logger.Level) { number = Atomic(level.number) }

    /// The level of this process.
    public static let ofProcess = LogLevel(.info)

    public var level: Logger.Level {
        get { Logger.Level.allCases[number.load(ordering: .relaxed)] }
        set { number.store(newValue.number, ordering: .relaxed) }
    }
}

extension Logger.Level {
    /// The position in `allCases`, which begins with `trace`.
    fileprivate var number: Int {
        switch self {
        case .trace: 0
        case .debug: 1
        case .info: 2
        case .notice: 3
        case .warning: 4
        case .error: 5
        case .critical: 6
        }
    }
}
