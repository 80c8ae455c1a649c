import Testing

/// Starts a server for the tests of a suite, which neither stop nor configure it. Suites that run at the same time share it.
public struct SharedPostgresServer: SuiteTrait, TestScoping {
    /// Once for the suite, not for each test.
    public let isRecursive = false

    @TaskLocal fileprivate static var server: PostgresServer?

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let server = try await RunningServer.shared.get()
        try await Self.$server.withValue(server) { try await function() }
    }
}

extension Trait where Self == SharedPostgresServer {
    public static var sharedPostgresServer: Self { SharedPostgresServer() }
}

extension PostgresServer {
    /// The server of the suite, which must have the trait `sharedPostgresServer`.
    public static var shared: PostgresServer {
        get throws {
            guard let server = SharedPostgresServer.server else { throw Overdue("The suite has no server.") }
            return server
        }
    }
}

private actor RunningServer {
    static let shared = RunningServer()

    private weak var running: PostgresServer?
    private var starting: Task<PostgresServer, any Error>?

    func get() async throws -> PostgresServer {
        if let running { return running }
        let task = starting ?? Task { try await PostgresServer() }
        starting = task
        defer { starting = nil }
        let server = try await task.value
        running = server
        return server
    }
}
