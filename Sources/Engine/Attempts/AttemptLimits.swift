import CurlClient
import Downloads
import Locks

/// The limits that all connections of one attempt share. A client can change the job's own limits while the attempt
/// runs.
final class AttemptLimits: Sendable {
    /// The rate limits of the service, of the session and of the job, in that order.
    let rates: [RateLimit]
    private let jobRate: RateLimit
    private let mayShare: Bool
    /// The number of connections with which the job was admitted.
    private let admittedConnections: Int
    /// The job's own `connections`; nil: `admittedConnections` applies.
    private let jobConnections: Locked<Int?>

    /// - Parameter rates: the rate limits of the service and of the session.
    init(of job: Job, _ spec: ResolvedSpec, under rates: [RateLimit]) {
        jobRate = RateLimit(bytesPerSecond: job.spec.rateLimit)
        self.rates = rates + [jobRate]
        mayShare = !job.isDisproved
        admittedConnections = spec.connections
        jobConnections = Locked(job.spec.connections)
    }

    /// How many connections may fetch the file at once. It is 1 for a job whose file was fetched in pieces before and
    /// did not match its digest.
    var connections: Int { mayShare ? jobConnections.withLock { $0 } ?? admittedConnections : 1 }

    /// Whether a rate limit is set. If so, a connection may be silent because fetchd delays it, not its server.
    var isRateLimited: Bool { rates.contains { $0.bytesPerSecond != nil } }

    /// Applies the limits that the client has changed. Running transfers use the new limits at once.
    func take(_ spec: JobSpec) {
        jobConnections.withLock { $0 = spec.connections }
        jobRate.bytesPerSecond = spec.rateLimit
    }
}
