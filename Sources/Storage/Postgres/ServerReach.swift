import Locks
import PostgresClient

/// Whether the server answers. After it has not answered for as long as a lease lasts, nothing waits for it: present waits end, and
/// new calls fail at once.
///
/// A server that is paused, or a network that drops packets, closes no connection. Without this, each request would wait for the
/// timeout of its round trip.
final class ServerReach: Sendable {
    /// Those of the connections that were opened since the server answered; nil: it does not answer.
    private let interrupt: Locked<PostgresInterrupt?>

    init() throws(PostgresError) { interrupt = Locked(try PostgresInterrupt()) }

    /// Ends the waits of a new connection when the server does not answer any more.
    ///
    /// - Throws: `PostgresError.timedOut` if it does not answer now.
    func interruptOfConnection() throws(PostgresError) -> PostgresInterrupt {
        guard let current = interrupt.withLock(\.self) else { throw .timedOut }
        return current
    }

    /// Whether the server has answered since a connection with this interrupt was opened.
    func isCurrent(_ other: PostgresInterrupt) -> Bool { interrupt.withLock { $0 === other } }

    /// The server did not answer in time.
    func noteSilence() { interrupt.withLock { $0.take() }?.interrupt() }

    /// The server has answered.
    func noteAnswer() throws(PostgresError) {
        guard interrupt.withLock({ $0 == nil }) else { return }
        let new = try PostgresInterrupt()
        interrupt.withLock { $0 = $0 ?? new }
    }
}
