/// A limit to how long is waited.
enum Deadline {
    /// - Parameter seconds: nil waits for ever.
    /// - Throws: `ClientError.overdue` when the body was not done in time.
    static func limiting<Value: Sendable>(
        to seconds: Double?, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let seconds else { return try await body() }
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: .seconds(seconds))
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let value = first else { throw ClientError.overdue }
            return value
        }
    }
}
