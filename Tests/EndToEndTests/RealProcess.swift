import Testing

/// Runs a test, or the tests of a suite, with the real program: where a kill, a signal, an exit status, flags, descriptors or
/// a failing disk matter.
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
