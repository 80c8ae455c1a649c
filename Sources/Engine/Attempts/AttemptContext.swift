import CurlClient
import Downloads
import Storage

/// The values that the connections of one attempt share. A connection holds this context and not the attempt, so that
/// the attempt owns its connections and none of them calls it.
struct AttemptContext: Sendable {
    /// The job as the store admitted it.
    let job: Job
    /// The job's specification, completed by its session's configuration.
    let spec: ResolvedSpec
    let limits: AttemptLimits
    /// Every disk operation on the attempt's part runs in this lane.
    let lane: DiskLane
    let control: AttemptControl
    let progress: AttemptProgress
    let client: CurlClient
    /// Counts the connections to each host.
    let hosts: HostConnections
    /// Where `rehearse:` URLs are fetched from; nil: they are not.
    let rehearsalOrigin: String?
    /// Seconds over which the session's `minimum_bytes_per_second` is judged.
    let minimumSpeedSeconds: Double
    let time: any TimeSource
}

extension AttemptContext {
    /// - Parameter rates: of the service and of the session.
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
