import ArgumentParser
import Formats

/// The options of `fetchd serve`, as given. `Settings` combines them with the environment and the file.
struct ServeOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A configuration file (JSON) with any of these settings. (default: none)", valueName: "file"))
    var config: String?

    @OptionGroup var listening: ListeningOptions

    @Option(
        help: ArgumentHelp(
            "The folder of the database. It is created if missing. Only one service at a time can use it. (default: \(Settings.Defaults.dataDir))",
            valueName: "dir"))
    var dataDir: String?

    @Option(
        help: ArgumentHelp(
            "The folder for downloaded files. It is created if missing. (default: \(Settings.Defaults.downloadsDir))",
            valueName: "dir"))
    var downloadsDir: String?

    @Option(
        help: ArgumentHelp(
            "A PostgreSQL database for the jobs, such as postgres://fetchd@db/fetchd. The password is better in PGPASSFILE or FETCHD_STORE, because other users can read command lines. (default: SQLite in the data folder)",
            valueName: "url"))
    var store: String?

    @OptionGroup var cluster: ClusterOptions

    @Option(
        help: ArgumentHelp(
            "Whether the services that share the database of --store use one downloads folder (shared), or each a folder of its own (local). (default: local)",
            valueName: "sharing"))
    var downloads: String?

    @Option(
        help: ArgumentHelp(
            "The maximum number of running jobs, 1 to 10000. (default: \(Settings.Defaults.maxConcurrentJobs))",
            valueName: "n"))
    var maxConcurrentJobs: Int?

    @Option(
        help: ArgumentHelp(
            "The maximum number of simultaneous connections to one host and port, 1 to 10000. (default: \(Settings.Defaults.maxConnectionsPerHost))",
            valueName: "n"))
    var maxConnectionsPerHost: Int?

    @OptionGroup var network: NetworkOptions

    @Option(
        help: ArgumentHelp(
            "The times to wait before each attempt of a webhook delivery, including the first, such as 0,5s,5m,2h. (default: \(Settings.Defaults.webhookRetryDelays))",
            valueName: "duration,..."))
    var webhookRetryDelays: String?

    @Option(
        help: ArgumentHelp(
            "The time after which the log and the metrics report a finished batch whose acknowledgement is expected and missing. (default: \(Int(Settings.Defaults.acknowledgementPatience)))",
            valueName: "duration"))
    var acknowledgementPatience: String?

    @Option(
        help: ArgumentHelp(
            "The time for which acknowledged events and deliveries are kept. (default: \(Int(Settings.Defaults.eventRetention)), a week)",
            valueName: "duration"))
    var eventRetention: String?

    @Option(
        help: ArgumentHelp(
            "The time for which unacknowledged events and pending deliveries are kept. (default: \(Int(Settings.Defaults.unacknowledgedRetention)), 30 days)",
            valueName: "duration"))
    var unacknowledgedRetention: String?

    @OptionGroup var retention: RetentionOptions

    @Option(
        help: ArgumentHelp(
            "The maximum number of bytes that all paused, waiting and failed downloads together keep on disk. Beyond it, the bytes of the oldest downloads are deleted, and these start from the beginning. (default: no limit)",
            valueName: "bytes"))
    var resumeDataMaxBytes: String?

    @OptionGroup var files: FileOptions

    @Option(
        help: ArgumentHelp(
            "The maximum rate of all transfers together, in bytes per second, such as 500K or 2Mi; 0: no limit. (default: 0)",
            valueName: "bytes"))
    var rateLimitBytesPerSecond: String?

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Other limits by hour and weekday, such as 'mon-fri 08:00-18:00 Europe/Berlin rate_limit_bytes_per_second=1M max_concurrent_jobs=2'; repeatable, and the first rule that applies decides. Separated by semicolons in FETCHD_SCHEDULE. See docs/configuration.md. (default: none)",
            valueName: "rule"))
    var schedule: [String] = []

    @Option(
        help: ArgumentHelp(
            "The time over which a session's minimum_bytes_per_second is measured. (default: \(Int(Settings.Defaults.minimumSpeedSeconds)))",
            valueName: "duration"))
    var minimumSpeedSeconds: String?

    @Option(
        help: ArgumentHelp(
            "The time between the heartbeats of an event stream without events. (default: \(Int(Settings.Defaults.streamHeartbeat)))",
            valueName: "duration"))
    var streamHeartbeat: String?

    @Option(
        help: ArgumentHelp(
            "The longest time that a stop may take, for example if a disk hangs. After that, fetchd ends with status 74. A node whose jobs others have taken over starts again after that time at the latest. (default: \(Int(Settings.Defaults.stopTimeout)))",
            valueName: "duration"))
    var stopTimeout: String?

    @Option(
        help: ArgumentHelp(
            "The time for which fetchd still works and answers after SIGTERM or SIGINT, while /readyz is 503, so that a load balancer sends no more requests when it stops. The time limit of the stop begins afterwards. See docs/reverse-proxies.md. (default: \(Int(Settings.Defaults.stopDelay)))",
            valueName: "duration"))
    var stopDelay: String?

    @Flag(
        help: ArgumentHelp(
            "Accept jobs with rehearse: URLs. Such a job is a simulated download, and its URL says how it ends. See docs/sessions.md. (default: off)"
        ))
    var enableRehearsals = false

    @OptionGroup var aria2: Aria2Options

    @OptionGroup var key: KeyOptions

    @Flag(
        help: ArgumentHelp(
            "Start without the key of the secrets in the database, if it is lost: with the given key or a new one, and without the secrets. For one start. See docs/operations.md. (default: off: fetchd refuses to start)"
        ))
    var acceptLostSecrets = false

    @Flag(
        help: ArgumentHelp(
            "Allow core dumps, which contain passwords and the key. (default: off: fetchd sets RLIMIT_CORE)"))
    var allowCoreDumps = false

    @Option(
        help: ArgumentHelp(
            "The lowest level that is logged: trace, debug, info, notice, warning, error or critical. (default: \(Settings.Defaults.logLevel))",
            valueName: "level"))
    var logLevel: String?

    @OptionGroup var observation: ObservationOptions

    /// Only the options that were given.
    var flags: [Settings.Key: JSON] {
        let flags: [Settings.Key: JSON?] = [
            .dataDir: dataDir.map(JSON.string),
            .downloadsDir: downloadsDir.map(JSON.string),
            .store: store.map(JSON.string),
            .downloads: downloads.map(JSON.string),
            .maxConcurrentJobs: maxConcurrentJobs.map(JSON.count),
            .maxConnectionsPerHost: maxConnectionsPerHost.map(JSON.count),
            .webhookRetryDelays: webhookRetryDelays.map { .strings($0.split(separator: ",").map(String.init)) },
            .acknowledgementPatience: acknowledgementPatience.map(JSON.string),
            .eventRetention: eventRetention.map(JSON.string),
            .unacknowledgedRetention: unacknowledgedRetention.map(JSON.string),
            .resumeDataMaxBytes: resumeDataMaxBytes.map(JSON.string),
            .schedule: schedule.isEmpty ? nil : .strings(schedule),
            .rateLimit: rateLimitBytesPerSecond.map(JSON.string),
            .minimumSpeedSeconds: minimumSpeedSeconds.map(JSON.string),
            .streamHeartbeat: streamHeartbeat.map(JSON.string),
            .stopTimeout: stopTimeout.map(JSON.string),
            .stopDelay: stopDelay.map(JSON.string),
            .enableRehearsals: enableRehearsals ? .bool(true) : nil,
            .acceptLostSecrets: acceptLostSecrets ? .bool(true) : nil,
            .allowCoreDumps: allowCoreDumps ? .bool(true) : nil,
            .logLevel: logLevel.map(JSON.string),
        ]
        let groups = [
            listening.flags, cluster.flags, network.flags, files.flags, retention.flags, aria2.flags, key.flags,
            observation.flags,
        ]
        return groups.reduce(flags.compactMapValues(\.self)) { $0.merging($1) { $1 } }
    }
}
