import Formats
import Foundation
import Locks

/// The clock of the database's server, which all nodes share. Their own clocks may differ.
///
/// A node measures the difference with each renewal of its lease.
final class ServerClock: TimeSource {
    private let machine: any TimeSource
    /// The server's time at uptime 0, in milliseconds since 1970 (UTC).
    private let origin: Locked<Int64>

    init(_ machine: any TimeSource, _ measurement: Measurement) {
        self.machine = machine
        origin = Locked(measurement.origin)
    }

    struct Measurement {
        /// The server's time between two uptimes of this machine, in milliseconds since 1970 (UTC).
        var serverTime: Int64
        var sentAt: Duration
        var answeredAt: Duration

        var origin: Int64 { serverTime - ((sentAt + answeredAt) / 2).milliseconds }
        var error: Duration { (answeredAt - sentAt) / 2 }
    }

    /// Follows a measurement that is exact enough.
    ///
    /// - Returns: whether the server's clock has jumped.
    func follow(_ measurement: Measurement) -> Bool {
        let (new, error) = (measurement.origin, measurement.error.milliseconds)
        return origin.withLock { origin in
            let difference = abs(new - origin)
            if difference > error + 1 { origin = new }
            return difference > error + Self.smallestJump
        }
    }

    /// In milliseconds. Corrections by less do not end a lease that is renewed in time.
    private static let smallestJump: Int64 = 1000

    var now: Date { Date(milliseconds: origin.withLock(\.self) + machine.uptime.milliseconds) }
    var uptime: Duration { machine.uptime }
    /// The stored uptime can be that of another machine.
    var boot: String? { nil }

    func sleep(untilUptime deadline: Duration) async throws { try await machine.sleep(untilUptime: deadline) }
}
