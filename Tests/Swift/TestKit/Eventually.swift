extension Duration {
    /// How long a test waits for what must happen. It is long, because a machine may be slow, and only failing tests reach it.
    public static let patience = Duration.seconds(300)
}

/// A condition that did not hold in time.
public struct Overdue: Error, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }
}

/// Polls a condition until it holds, for conditions in another process, which cannot signal them.
///
/// The pause between two polls spares the other process; tests never guess how long something takes.
///
/// - Parameters:
///   - what: completes "waited in vain for ...".
///   - look: returns nil while the condition does not hold; its first other value is returned.
/// - Throws: `Overdue` after `timeout`.
public func eventually<Value>(
    _ what: String, atMost timeout: Duration = .patience, pause: Duration = .milliseconds(10),
    isolation: isolated (any Actor)? = #isolation, _ look: () async throws -> Value?
) async throws -> Value {
    let deadline = ContinuousClock.now + timeout
    while true {
        if let value = try await look() { return value }
        guard ContinuousClock.now < deadline else { throw Overdue("Waited in vain for \(what).") }
        try await Task.sleep(for: pause)
    }
}
