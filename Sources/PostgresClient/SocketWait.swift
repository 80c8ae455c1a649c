import Base
import CPostgreSQL
import Glibc

/// Blocks the calling thread until a socket is ready, a deadline has passed, or the interrupt was set.
struct SocketWait {
    private let interrupt: PostgresInterrupt?

    init(_ interrupt: PostgresInterrupt?) { self.interrupt = interrupt }

    /// - Parameters:
    ///   - wished: `POLLIN`, `POLLOUT` or both.
    ///   - deadline: by a clock that continues while the machine is suspended.
    /// - Returns: the events that have occurred. An error of the socket counts as all of them.
    func wait(
        _ socket: Int32, for wished: Int32, until deadline: ContinuousClock.Instant
    ) throws(RoundTripFailure) -> Int32 {
        let descriptors = [socket, interrupt?.descriptor.number ?? -1]
        while true {
            var polled = [
                pollfd(fd: descriptors[0], events: Int16(wished), revents: 0),
                pollfd(fd: descriptors[1], events: Int16(POLLIN), revents: 0),
            ]
            let count = poll(&polled, nfds_t(polled.count), Self.milliseconds(until: deadline))
            if polled[1].revents != 0 { throw .interrupted }
            if count > 0 {
                let occurred = Int32(polled[0].revents)
                return occurred & ~wished == 0 ? occurred : wished
            }
            if count == 0, ContinuousClock.now >= deadline { throw .timedOut }
        }
    }

    /// Whether bytes, or the end of the connection, can be read at once.
    func isReadable(_ socket: Int32) -> Bool {
        var polled = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return poll(&polled, 1, 0) == 1
    }

    /// The result is at most a minute, because the clock of poll(2) stands still while the machine is suspended.
    private static func milliseconds(until deadline: ContinuousClock.Instant) -> Int32 {
        let left = deadline - .now
        guard left > .zero else { return 0 }
        return left >= .seconds(60) ? 60_000 : Int32(left / .milliseconds(1)) + 1
    }
}

/// Ends the present and all later waits of the connections that were opened with it. Any thread may call it, for example
/// when the service stops or may not write any more.
///
/// The server is not asked to stop the statement: it notices within a second that the connection is closed
/// (`client_connection_check_interval`).
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
