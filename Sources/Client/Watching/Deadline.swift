/// The time limit of a command. It starts when the value is created.
struct Deadline: Sendable {
    private let end: ContinuousClock.Instant?

    /// - Parameter seconds: nil: no limit.
    init(seconds: Double?) {
        end = seconds.map { .now + .seconds($0) }
    }

    /// - Throws: `ClientError.overdue` if the body does not end in time.
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
