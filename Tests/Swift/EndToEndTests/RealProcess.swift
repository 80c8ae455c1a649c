import Testing

/// Runs a test, or the tests of a suite, with the real program: for kills, signals, exit statuses, flags, descriptors
/// and failing disks.
struct RealProcess: TestTrait, SuiteTrait, TestScoping {
    @TaskLocal static var isWanted = false

    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await Self.$isWanted.withValue(true) { try await function() }
    }
}

extension Trait where Self == RealProcess {
    static var realProcess: Self { Self() }
}
