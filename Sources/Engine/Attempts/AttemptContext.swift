import CurlClient
import Downloads
import Storage

/// The values that the connections of one attempt share. A connection refers to this context and not to the attempt, so
/// the attempt owns its connections and no connection calls the attempt.
struct AttemptContext: Sendable {
    /// The job as the store admitted it.
    let job: Job
    /// The job's specification, completed with its session's configuration.
    let spec: ResolvedSpec
    let limits: AttemptLimits
    /// Every disk operation on the attempt's part runs in this lane.
    let lane: DiskLane
    let control: AttemptControl
    let progress: AttemptProgress
    let client: CurlClient
    /// Counts the connections to each host.
    let hosts: HostConnections
    /// The base URL that serves `rehearse:` URLs; nil: fetchd refuses these URLs.
    let rehearsalOrigin: String?
    /// Seconds over which the speed is averaged that the session's `minimum_bytes_per_second` limits.
    let minimumSpeedSeconds: Double
    let time: any TimeSource
}

extension AttemptContext {
    /// - Parameter rates: the rate limits of the service and of the session.
    init(_ admitted: AdmittedJob, under rates: [RateLimit], _ services: EngineServices) {
        job = admitted.job
        spec = admitted.spec
        limits = AttemptLimits(of: admitted.job, admitted.spec, under: rates)
        lane = services.lanes.next()
        control = AttemptControl()
        progress = AttemptProgress(of: admitted.job, time: services.time, total: services.received)
        client = services.client
        hosts = services.connections
        rehearsalOrigin = services.rehearsalOrigin
        minimumSpeedSeconds = services.minimumSpeedSeconds
        time = services.time
    }
}
