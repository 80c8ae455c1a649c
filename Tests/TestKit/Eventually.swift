/// What a test waited for and did not get.
public struct Overdue: Error, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }
}

/// Asks again and again until there is an answer: for conditions that live in another process, where nobody can ring.
///
/// The pause between two looks is for the other process's sake; how long something takes is never guessed.
///
/// - Parameters:
///   - what: completes "waited in vain for ...".
///   - look: nil while the condition does not hold; what it returns otherwise is returned.
/// - Throws: `Overdue` after `timeout`, which is for tests that fail.
public func eventually<Value>(
    _ what: String, atMost timeout: Duration = .seconds(30), pause: Duration = .milliseconds(10),
    isolation: isolated (any Actor)? = #isolation, _ look: () async throws -> Value?
) async throws -> Value {
    let deadline = ContinuousClock.now + timeout
    while true {
        if let value = try await look() { return value }
        guard ContinuousClock.now < deadline else { throw Overdue("Waited in vain for \(what).") }
        try await Task.sleep(for: pause)
    }
}
