/// Decides which failures of a repeated operation get a line in the log: the first one, and later one a minute. While the
/// database is away, many operations fail every second.
public struct RepeatedFailures: Sendable {
    private var count = 0
    /// The uptime from which the next failure gets a line; nil: none was noted.
    private var nextLine: Duration?

    public init() {}

    /// Notes a failure.
    ///
    /// - Parameter uptime: the time since the start of the machine.
    /// - Returns: the number of failures since the last line, with this one; nil if it gets no line.
    public mutating func note(at uptime: Duration) -> Int? {
        count += 1
        if let nextLine, uptime < nextLine { return nil }
        defer { (count, nextLine) = (0, uptime + Self.interval) }
        return count
    }

    /// The operation has succeeded. The next failure gets a line.
    ///
    /// - Returns: whether a failure was noted.
    public mutating func end() -> Bool {
        defer { self = RepeatedFailures() }
        return nextLine != nil
    }

    /// Completes the line of a failure.
    ///
    /// - Parameter count: see `note`.
    public static func suffix(_ count: Int) -> String {
        count == 1 ? "" : " (\(count) failures since the last such line)"
    }

    private static let interval: Duration = .seconds(60)
}
