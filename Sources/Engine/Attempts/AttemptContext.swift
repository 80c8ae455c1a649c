import CurlClient
import Downloads
import HTTPSemantics
import Storage

/// The values that the connections of one attempt share. A connection refers to this context and not to the attempt, so
/// the attempt owns its connections and no connection calls the attempt.
///
/// It is a class, because the suspended functions of a running attempt would hold many copies of a value of 1 KiB.
final class AttemptContext: Sendable {
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
    /// The trace that requests to the job's origin belong to; nil: they name none.
    let trace: TraceContext?
    /// Seconds over which the speed is averaged that the session's `minimum_bytes_per_second` limits.
    let minimumSpeedSeconds: Double
    let time: any TimeSource

    init(
        job: Job, spec: ResolvedSpec, limits: AttemptLimits, lane: DiskLane, control: AttemptControl,
        progress: AttemptProgress, client: CurlClient, hosts: HostConnections, rehearsalOrigin: String?,
        trace: TraceContext? = nil, minimumSpeedSeconds: Double, time: any TimeSource
    ) {
        self.trace = trace
        (self.job, self.spec, self.limits, self.lane) = (job, spec, limits, lane)
        (self.control, self.progress, self.client, self.hosts) = (control, progress, client, hosts)
        (self.rehearsalOrigin, self.minimumSpeedSeconds, self.time) = (rehearsalOrigin, minimumSpeedSeconds, time)
    }

    /// - Parameter rates: the rate limits of the service and of the session.
    convenience init(_ admitted: AdmittedJob, under rates: [RateLimit], _ services: EngineServices) {
        self.init(
            job: admitted.job,
            spec: admitted.spec.limited(to: services.storageLimits.maxFileSize.map { SizeLimit($0, of: .service) }),
            limits: AttemptLimits(of: admitted.job, admitted.spec, under: rates), lane: services.lanes.next(),
            control: AttemptControl(),
            progress: AttemptProgress(of: admitted.job, time: services.time, total: services.received),
            client: services.client, hosts: services.connections, rehearsalOrigin: services.rehearsalOrigin,
            trace: services.tracesOrigins ? admitted.job.trace : nil,
            minimumSpeedSeconds: services.minimumSpeedSeconds, time: services.time)
    }
}
