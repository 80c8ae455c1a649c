import Formats
import Storage

extension Setting {
    /// The table of all settings. A new setting is a row here, a field of `Settings`, and the place where the field is used.
    public static let all: [Setting] =
        listening + folders + limits + [schedule] + destinations + callers + events + files + [rateLimit] + process
        + observation + [token]

    public static let options: [Setting] =
        listening + callers + folders + limits + destinations + events + files + [rateLimit, schedule] + process
        + observation

    public static let running: [Setting] = all.filter(\.isRunning)

    public static subscript(_ name: SettingName) -> Setting? { byName[name] }

    private static let byName: [SettingName: Setting] = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    private static let listening: [Setting] = [
        Setting(
            "listen", .address, in: \.listen, as: "host:port",
            "The address and port of the API. Port 0: the system chooses a free port. none: no port, only a Unix domain socket."
        ),
        Setting(
            "unix_socket", .path, optional: \.unixSocket, as: "path",
            "A Unix domain socket on which the API is served, too. The file is removed at the end."),
        Setting(
            "unix_socket_mode", .socketMode, in: \.unixSocketMode, as: "mode",
            "The permissions of the Unix domain socket, in octal. Who may write to it may use the API."),
        Setting(
            "max_connections", .integer(16...20_000), optional: \.maxConnections,
            unset: "20000, or fewer if the limit on file descriptors requires it",
            "The maximum number of clients that are connected at the same time, 16 to 20000. Others wait."),
        Setting(
            "max_connections_per_address", .integer(0...20_000), optional: \.maxConnectionsPerAddress,
            unset: "half of --max-connections",
            "The maximum number of connections from one IPv4 address or IPv6 /64 network, except loopback; 0: no limit. Further connections are closed."
        ),
    ]

    private static let folders: [Setting] = [
        Setting(
            .dataDir, .path, optional: \.dataDir, as: "dir",
            unset: "~/.local/share/fetchd; for root /var/lib/fetchd/data",
            "The folder of the database. It is created if missing. Only one service at a time can use it."),
        Setting(
            .downloadsDir, .path, optional: \.downloadsDir, as: "dir",
            unset: "~/Downloads/fetchd; for root /var/lib/fetchd/downloads",
            "The folder for downloaded files. It is created if missing."),
        Setting(
            .location, .locations, in: \.locations, as: "name=path",
            "Another place for files, such as films=/mnt/films, 'fast=/ssd?incomplete=/ssd-parts' or archive=s3://bucket/prefix, which jobs and sessions name as their destination.location; repeatable. Separated by semicolons in FETCHD_LOCATION. See docs/destinations.md."
        ),
        Setting(
            .locationCredentials, .locationCredentials, in: \.locationCredentials, as: "name=file",
            "The file with the access key of an s3:// location, such as archive=/etc/fetchd/archive.ini, in the form of AWS's shared credentials. Others than its owner must not be able to read it. Repeatable. Without one, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY apply to the one location without a file."
        ),
        Setting(
            .store, .database, optional: \.store, as: "url", unset: "SQLite in the data folder",
            showing: { (try? ServerAddress($0).shown) ?? "(not shown)" },
            "A PostgreSQL database for the jobs, such as postgres://fetchd@db/fetchd. The password is better in PGPASSFILE or FETCHD_STORE, because other users can read command lines."
        ),
        Setting(
            "node_url", .nodeURL, optional: \.nodeURL, as: "url",
            "The address at which other nodes of the same --store reach this one, such as http://10.0.0.7:8080. See docs/many-machines.md."
        ),
        Setting(
            "downloads", .choice(false: "local", true: "shared"), in: \.sharesDownloads, as: "sharing",
            "Whether the services that share the database of --store use one downloads folder (shared), or each a folder of its own (local)."
        ),
    ]

    private static let limits: [Setting] = [
        Setting(
            .maxConcurrentJobs, .integer(1...10_000), in: \.maxConcurrentJobs, by: .callers,
            "The maximum number of running jobs, 1 to 10000."),
        Setting(
            "max_connections_per_host", .integer(1...10_000), in: \.maxConnectionsPerHost, by: .callers,
            "The maximum number of simultaneous connections to one host and port, 1 to 10000."),
        Setting(
            "hosts", .hostRules, in: \.hostRules, as: "rule", by: .administrators,
            "How requests to some hosts are limited, such as '*.example.com requests_per_second=3 connections=2 pause_statuses=403 rate_limit_bytes_per_second=1M'; repeatable. The most specific host that matches decides, and * is any host. Separated by semicolons in FETCHD_HOSTS. See docs/polite.md."
        ),
    ]

    private static let schedule = Setting(
        .schedule, .schedule, in: \.schedule, as: "rule", by: .callers,
        "Other limits by hour and weekday, such as 'mon-fri 08:00-18:00 Europe/Berlin rate_limit_bytes_per_second=1M max_concurrent_jobs=2'; repeatable, and the first rule that applies decides. Separated by semicolons in FETCHD_SCHEDULE. See docs/configuration.md."
    )

    private static let rateLimit = Setting(
        .rateLimit, .rate, in: \.rateLimit, by: .callers,
        "The maximum rate of all transfers together, in bytes per second, such as 500K or 2Mi; 0: no limit.")

    private static let destinations: [Setting] = [
        Setting(
            "allow_network", .networks, in: \.allowedNetworks, as: "cidr", by: .administrators,
            "A network that is not public, such as 192.168.0.0/16, and that downloads and their proxies may reach; repeatable."
        ),
        Setting(
            "deny_network", .networks, in: \.deniedNetworks, as: "cidr", by: .administrators,
            "A network that neither downloads, their proxies nor webhooks may reach; repeatable. It takes precedence over every other option."
        ),
        Setting(
            "allow_webhook_network", .networks, in: \.webhookNetworks, as: "cidr", by: .administrators,
            "A network that is not public and that the webhooks of callers without administrator rights may reach; repeatable. Webhooks of administrators may reach any network."
        ),
        Setting(
            "allow_origin_host", .hosts, in: \.hosts.allowed, as: "host", by: .administrators, unset: "any host",
            "A host that URLs of downloads may name, such as files.example.com, *.example.com or 203.0.113.7; repeatable. With this option, all other hosts are refused. Web pages that use the API have another option, allow-origin."
        ),
        Setting(
            "deny_origin_host", .hosts, in: \.hosts.denied, as: "host", by: .administrators,
            "A host that URLs of downloads may not name, in the same forms; repeatable. It takes precedence over allowed hosts."
        ),
        Setting(
            "allow_origin_port", .ports, in: \.hosts.ports, as: "port", by: .administrators, unset: "any port",
            "A port that URLs of downloads may have, or a range such as 8000-8999; repeatable. With this option, all other ports are refused."
        ),
    ]

    private static let callers: [Setting] = [
        Setting(
            "public_host", .list, in: \.publicHosts, as: "name",
            "A host name that clients use for this service (in the Host header), in addition to localhost and IP addresses; repeatable."
        ),
        Setting(
            "trusted_proxy", .proxies, in: \.trustedProxies, as: "cidr",
            "A network of reverse proxies, such as 10.0.0.0/8, whose X-Forwarded-For says for whom they send a request; unix for those on the Unix domain socket; repeatable. The audit log and the log then name the client. See docs/reverse-proxies.md."
        ),
        Setting(
            "allow_origin", .origins, in: \.allowedOrigins, as: "origin",
            "An origin, such as http://localhost:9000, whose web pages may use the API from a browser (CORS); repeatable. * allows any origin and requires a token. See docs/web.md."
        ),
    ]

    private static let events: [Setting] = [
        Setting(
            "webhook_retry_delays", .delays, in: \.webhookRetryDelays, as: "duration,...",
            "The times to wait before each attempt of a webhook delivery, including the first, such as 0,5s,5m,2h."),
        Setting(
            "acknowledgement_patience", .seconds, in: \.acknowledgementPatience,
            "The time after which the log and the metrics report a finished batch whose acknowledgement is expected and missing."
        ),
        Setting(
            "event_retention", .seconds, in: \.eventRetention, by: .administrators, note: ", a week",
            "The time for which acknowledged events and deliveries are kept."),
        Setting(
            "unacknowledged_retention", .seconds, in: \.unacknowledgedRetention, by: .administrators, note: ", 30 days",
            "The time for which unacknowledged events and pending deliveries are kept."),
    ]

    private static let files: [Setting] = [
        Setting(
            "finished_retention", .seconds, optional: \.finishedRetention, by: .administrators, unset: "never",
            "The time after which jobs that have ended are deleted. Jobs of a batch whose acknowledgement is expected and missing are deleted after --unacknowledged-retention, if that is longer."
        ),
        Setting(
            "finished_retention_files", .choice(false: "keep", true: "delete"), in: \.deletesFinishedFiles,
            as: "keep|delete",
            "What happens to the finished files of jobs that --finished-retention deletes: keep or delete."),
        Setting(
            "resume_data_max_bytes", .size, optional: \.resumeDataMaxBytes, by: .administrators, unset: "no limit",
            "The maximum number of bytes that all paused, waiting and failed downloads together keep on disk. Beyond it, the bytes of the oldest downloads are deleted, and these start from the beginning."
        ),
        Setting(
            "minimum_free_bytes", .size, optional: \.minimumFreeBytes, by: .administrators,
            unset: "1 % of the file system, at most 1 GiB",
            "Bytes that downloads leave free on the file system of the downloads folder. A job waits until there is enough space for it."
        ),
        Setting(
            "max_file_size", .size, optional: \.maxFileSize, by: .administrators, unset: "no limit",
            "The largest size of a file. A larger file fails its job with too_large, as with the job's own max_size."
        ),
        Setting(
            "max_parts", .integer(0...(1 << 60)), optional: \.maxParts, by: .administrators, unset: "no limit",
            "The maximum number of paused, waiting and failed downloads that keep bytes on disk. Beyond it, the bytes of the oldest downloads are deleted, and these start from the beginning."
        ),
        Setting(
            "file_mode", .fileMode, optional: \.fileMode, as: "mode",
            unset: "0666, less the umask",
            "The permissions of finished files, as an octal number such as 0640. The umask does not change them."),
        Setting(
            "directory_mode", .directoryMode, optional: \.directoryMode, as: "mode",
            unset: "0755, less the umask",
            "The permissions of folders that fetchd creates in the downloads folder, as an octal number such as 0750. The umask does not change them."
        ),
    ]

    private static let process: [Setting] = [
        Setting(
            "minimum_speed_seconds", .seconds, in: \.minimumSpeedSeconds,
            "The time over which a session's minimum_bytes_per_second is measured."),
        Setting(
            "stream_heartbeat", .seconds, in: \.streamHeartbeat,
            "The time between the heartbeats of an event stream without events."),
        Setting(
            "stop_timeout", .seconds, in: \.stopTimeout,
            "The longest time that a stop may take, for example if a disk hangs. After that, fetchd ends with status 74. A node whose jobs others have taken over ends with status 75 after that time at the latest."
        ),
        Setting(
            "stop_delay", .seconds, in: \.stopDelay,
            "The time for which fetchd still works and answers after SIGTERM or SIGINT, while /readyz is 503, so that a load balancer sends no more requests when it stops. The time limit of the stop begins afterwards. See docs/reverse-proxies.md."
        ),
        Setting(
            "enable_rehearsals", .flag, in: \.enableRehearsals,
            "Accept jobs with rehearse: URLs. Such a job is a simulated download, and its URL says how it ends. See docs/sessions.md."
        ),
        Setting(
            "aria2_rpc", .flag, in: \.aria2RPC,
            "Serve aria2's JSON-RPC at /jsonrpc, for programs that drive aria2. See docs/from-aria2.md."),
        Setting(
            "aria2_session", .name, in: \.aria2Session, as: "name",
            "The session of the jobs that aria2's JSON-RPC shows and creates."),
        Setting(
            .keyFile, .path, optional: \.keyFile, as: "file",
            unset: "fetchd.key in the data folder, created if missing",
            "A file of mode 0600 with the key that encrypts secrets in the database: 32 bytes in base64. See docs/operations.md."
        ),
        Setting(
            .keyCommand, .command, optional: \.keyCommand, as: "command", showing: withoutArguments,
            "A command that prints this key. It is split at blanks and runs without a shell, for at most 30 s."),
        Setting(
            "accept_lost_secrets", .flag, in: \.acceptLostSecrets, note: ": fetchd refuses to start",
            "Start without the key of the secrets in the database, if it is lost: with the given key or a new one, and without the secrets. For one start. See docs/operations.md."
        ),
        Setting(
            "allow_core_dumps", .flag, in: \.allowCoreDumps, note: ": fetchd sets RLIMIT_CORE",
            "Allow core dumps, which contain passwords and the key."),
    ]

    /// Arguments of a command may be secrets.
    @Sendable private static func withoutArguments(_ command: String) -> String {
        let words = command.split(separator: " ")
        return words.count > 1 ? "\(words[0]) (arguments not shown)" : command
    }

    private static let observation: [Setting] = [
        Setting(
            "log_level", .level, in: \.logLevel, as: "level", by: .administrators,
            "The lowest level that is logged: trace, debug, info, notice, warning, error or critical."),
        Setting(
            "log_format", .choice(false: "text", true: "json", ignoresCase: true), in: \.logsJSON, as: "format",
            "The form of the log: text for people, json for machines, with one object a line. See docs/monitoring.md."
        ),
        Setting(
            "request_log", .flag, in: \.requestLog,
            "Log each request of the API: method, path, status, duration, caller and address."),
        Setting(
            "trace_origins", .flag, in: \.traceOrigins, note: ": only to webhooks",
            "Send the traceparent of a job's request to the origin of its URL, too."),
    ]

    /// It has no option, because other users of the machine can read command lines.
    private static let token = Setting(
        .token, .token, optional: \.token, showing: { _ in "(not shown)" },
        "The first administrator's token. It has no option.")

    public static var documentation: String {
        let head = [
            "| option | environment variable | key in the file | default | values | while running | meaning |",
            "|---|---|---|---|---|---|---|",
        ]
        return (head + all.map(\.documentation)).joined(separator: "\n")
    }

    private var documentation: String {
        let hasOption = valueName != nil || kind == .flag
        let cells = [
            hasOption ? "`--\(optionName)`" : "none", "`\(environmentName)`", "`\(name.rawValue)`", defaultText,
            kind.values, isRunning ? "yes" : "no", meaning,
        ]
        return "| \(cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ")) |"
    }
}
