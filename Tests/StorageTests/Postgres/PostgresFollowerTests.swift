import PostgresClient
import Testing

@testable import Storage

/// When the thread that renews the lease takes the server for silent.
struct PostgresFollowerTests {
    private static let report = PostgresReport(.unreachable, message: "no answer")
    private static let silent: [PostgresError] = [
        .timedOut, .connectFailed(report), .connectionLost(report), .outcomeUnknown(report),
    ]
    private static let others: [PostgresError] = [
        .rolledBack, .closed, .interrupted, .statementFailed(report, index: 0),
    ]

    /// A renewal is one statement, so if its round trip takes too long, its outcome is unknown.
    @Test(arguments: silent) func serverThatDoesNotAnswerIsSilent(_ error: PostgresError) { #expect(error.isSilence) }

    @Test(arguments: others) func otherErrorsAreNoSilence(_ error: PostgresError) { #expect(!error.isSilence) }
}
