/// A limit to how long a command takes, from when this was made.
struct Deadline: Sendable {
    private let end: ContinuousClock.Instant?

    /// - Parameter seconds: nil waits for ever.
    init(seconds: Double?) {
        end = seconds.map { .now + .seconds($0) }
    }

    /// - Throws: `ClientError.overdue` when the body was not done in time.
    func limiting<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        guard let end else { return try await body() }
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(until: end, clock: .continuous)
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let value = first else { throw ClientError.overdue() }
            return value
        }
    }
}
