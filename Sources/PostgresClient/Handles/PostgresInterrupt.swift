import CPostgreSQL
import Descriptors
import Glibc

/// Ends the present and all later waits of the connections that were opened with it. Any thread may call it, for example
/// when the service stops or has lost its lease.
///
/// The server is not asked to stop the statement: it notices within a second that the connection is closed
/// (`client_connection_check_interval`). `PostgresCanceller` asks the server, and keeps the connection.
public final class PostgresInterrupt: Sendable {
    /// Readable from the interrupt on.
    let descriptor: Descriptor

    /// - Throws: `connectFailed` if the process has no free descriptor.
    public init() throws(PostgresError) {
        guard let descriptor = Descriptor(result: eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))) else {
            throw .connectFailed(
                PostgresReport(.other, message: "eventfd failed: \(String(cString: strerror(errno)))"))
        }
        self.descriptor = descriptor
    }

    public func interrupt() { eventfd_write(descriptor.number, 1) }
}
