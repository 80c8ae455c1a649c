import ArgumentParser
import Daemon
import Formats
import Foundation

/// `fetchd serve`. It passes on the options as given; `Settings` combines them with the environment and the file.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Runs the service until SIGTERM or SIGINT.",
        discussion: """
            Every option is also an environment variable, with the prefix FETCHD_ and the name in capitals with _ for - \
            (FETCHD_LISTEN, FETCHD_DATA_DIR, ...; lists separated by commas), and a member of the JSON file that --config \
            names ("listen", "data_dir", ...; lists as arrays). An option takes precedence over the environment, and the \
            environment over the file.

            FETCHD_TOKEN (or "token" in the file) is the first administrator's token. It has no option, because other users \
            of the machine can read command lines. 'fetchd token create' makes further tokens, which the database stores. \
            Until an administrator has a token, callers on this machine need none, and fetchd listens on loopback addresses \
            only.

            Without --data-dir and --downloads-dir, the folders do not depend on the working directory: XDG_DATA_HOME and \
            the download folder of user-dirs.dirs for a person, STATE_DIRECTORY or /var/lib/fetchd for a system service. \
            If ./data/fetchd.sqlite exists, as in earlier versions, fetchd uses ./data and ./downloads, with a warning. \
            The first line of the log names the folders.

            The service is ready when GET /readyz answers 200; 'fetchd health' asks for it. It reports readiness, progress and \
            stop to systemd (Type=notify, WatchdogSec=). On SIGTERM, running transfers keep the bytes they have \
            received, and fetchd ends. The transfers continue at the next start, as after a crash. A second SIGTERM ends \
            fetchd at once.

            EXIT STATUS:
              0    stopped by SIGTERM or SIGINT, and everything is stored
              1    the service could not start; the error says why
              64   an option or a setting cannot be used
              74   stopped, but the disk failed or did not answer in time, and some changes could not be stored
              130  ended at once by a second signal, SIGINT
              143  ended at once by a second signal, SIGTERM
            """)

    @Option(
        help: ArgumentHelp(
            "A configuration file (JSON) with any of these settings. (default: none)", valueName: "file"))
    var config: String?

    @Option(
        help: ArgumentHelp(
            "The address and port of the API. Port 0: the system chooses a free port. none: no port, only a Unix domain socket. (default: \(Settings.Defaults.listen))",
            valueName: "host:port"))
    var listen: String?

    @Option(
        help: ArgumentHelp(
            "A Unix domain socket on which the API is served, too. The file is removed at the end. (default: none)",
            valueName: "path"))
    var unixSocket: String?

    @Option(
        help: ArgumentHelp(
            "The permissions of the Unix domain socket, in octal. Who may write to it may use the API. (default: \(Settings.Defaults.unixSocketMode))",
            valueName: "mode"))
    var unixSocketMode: String?

    @Option(
        help: ArgumentHelp(
            "The maximum number of clients that are connected at the same time, 16 to 20000. Others wait. (default: 20000, or fewer if the limit on file descriptors requires it)",
            valueName: "n"))
    var maxConnections: Int?

    @Option(
        help: ArgumentHelp(
            "The maximum number of connections from one IPv4 address or IPv6 /64 network, except loopback; 0: no limit. Further connections are closed. (default: half of --max-connections)",
            valueName: "n"))
    var maxConnectionsPerAddress: Int?

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
        parsing: .singleValue,
        help: ArgumentHelp(
            "A host name that clients use for this service (in the Host header), in addition to localhost and IP addresses; repeatable. (default: none)",
            valueName: "name"))
    var publicHost: [String] = []

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "An origin, such as http://localhost:9000, whose web pages may use the API from a browser (CORS); repeatable. * allows any origin and requires a token. See docs/web.md. (default: none)",
            valueName: "origin"))
    var allowOrigin: [String] = []

    @Option(
        help: ArgumentHelp(
            "Seconds to wait before each attempt of a webhook delivery, including the first. (default: \(Settings.Defaults.webhookRetryDelays))",
            valueName: "s,s,..."))
    var webhookRetryDelays: String?

    @Option(
        help: ArgumentHelp(
            "Seconds after which the log and the metrics report an unacknowledged finished batch. (default: \(Int(Settings.Defaults.acknowledgementPatience)))",
            valueName: "seconds"))
    var acknowledgementPatience: Double?

    @Option(
        help: ArgumentHelp(
            "Seconds for which acknowledged events and deliveries are kept. (default: \(Int(Settings.Defaults.eventRetention)), a week)",
            valueName: "seconds"))
    var eventRetention: Double?

    @Option(
        help: ArgumentHelp(
            "Seconds for which unacknowledged events and pending deliveries are kept. (default: \(Int(Settings.Defaults.unacknowledgedRetention)), 30 days)",
            valueName: "seconds"))
    var unacknowledgedRetention: Double?

    @OptionGroup var retention: RetentionOptions

    @Option(
        help: ArgumentHelp(
            "The maximum number of bytes that all paused, waiting and failed downloads together keep on disk. Beyond it, the bytes of the oldest downloads are deleted, and these start from the beginning. (default: no limit)",
            valueName: "bytes"))
    var resumeDataMaxBytes: Int?

    @OptionGroup var files: FileOptions

    @Option(
        help: ArgumentHelp(
            "The maximum rate of all transfers together, in bytes per second. (default: no limit)", valueName: "bytes"))
    var rateLimitBytesPerSecond: Int?

    @Option(
        help: ArgumentHelp(
            "Seconds over which a session's minimum_bytes_per_second is measured. (default: \(Int(Settings.Defaults.minimumSpeedSeconds)))",
            valueName: "seconds"))
    var minimumSpeedSeconds: Double?

    @Option(
        help: ArgumentHelp(
            "Seconds between the heartbeats of an event stream without events. (default: \(Int(Settings.Defaults.streamHeartbeat)))",
            valueName: "seconds"))
    var streamHeartbeat: Double?

    @Option(
        help: ArgumentHelp(
            "The maximum number of seconds that a stop may take, for example if a disk hangs. After that, fetchd ends with status 74. (default: \(Int(Settings.Defaults.stopTimeout)))",
            valueName: "seconds"))
    var stopTimeout: Double?

    @Flag(
        help: ArgumentHelp(
            "Accept jobs with rehearse: URLs. Such a job is a simulated download, and its URL says how it ends. See docs/sessions.md. (default: off)"
        ))
    var enableRehearsals = false

    @Option(
        help: ArgumentHelp(
            "A file of mode 0600 with the key that encrypts secrets in the database: 32 bytes in base64. See docs/operations.md. (default: fetchd.key in the data folder, created if missing)",
            valueName: "file"))
    var keyFile: String?

    @Option(
        help: ArgumentHelp(
            "A command that prints this key. It is split at blanks and runs without a shell, for at most 30 s. (default: none)",
            valueName: "command"))
    var keyCommand: String?

    @Flag(
        help: ArgumentHelp(
            "Allow core dumps, which contain passwords and the key. (default: off: fetchd sets RLIMIT_CORE)"))
    var allowCoreDumps = false

    @Option(
        help: ArgumentHelp(
            "The lowest level that is logged: trace, debug, info, notice, warning, error or critical. (default: \(Settings.Defaults.logLevel))",
            valueName: "level"))
    var logLevel: String?

    func run() async throws {
        do {
            let settings = try Settings(flags: flags, configFile: config)
            try await Serving(settings).run()
        } catch let error as SettingsError {
            throw ValidationError(error.description)
        } catch let error as TokenMissing {
            throw ValidationError(error.description)
        } catch let error as StartError {
            FileHandle.standardError.write(Data("Error: \(error.description)\n".utf8))
            throw ExitCode.failure
        } catch is UnstoredError {
            throw ExitCode(ServeStatus.unstored.rawValue)
        }
    }

    /// Only the options that were given.
    private var flags: [Settings.Key: JSON] {
        let flags: [Settings.Key: JSON?] = [
            .listen: listen.map(JSON.string),
            .unixSocket: unixSocket.map(JSON.string),
            .unixSocketMode: unixSocketMode.map(JSON.string),
            .maxConnections: integer(maxConnections),
            .maxConnectionsPerAddress: integer(maxConnectionsPerAddress),
            .dataDir: dataDir.map(JSON.string),
            .downloadsDir: downloadsDir.map(JSON.string),
            .maxConcurrentJobs: integer(maxConcurrentJobs),
            .maxConnectionsPerHost: integer(maxConnectionsPerHost),
            .publicHost: list(publicHost),
            .allowOrigin: list(allowOrigin),
            .webhookRetryDelays: webhookRetryDelays.flatMap { list($0.split(separator: ",").map(String.init)) },
            .acknowledgementPatience: acknowledgementPatience.map(JSON.number),
            .eventRetention: eventRetention.map(JSON.number),
            .unacknowledgedRetention: unacknowledgedRetention.map(JSON.number),
            .resumeDataMaxBytes: integer(resumeDataMaxBytes),
            .rateLimit: integer(rateLimitBytesPerSecond),
            .minimumSpeedSeconds: minimumSpeedSeconds.map(JSON.number),
            .streamHeartbeat: streamHeartbeat.map(JSON.number),
            .stopTimeout: stopTimeout.map(JSON.number),
            .enableRehearsals: enableRehearsals ? .bool(true) : nil,
            .keyFile: keyFile.map(JSON.string),
            .keyCommand: keyCommand.map(JSON.string),
            .allowCoreDumps: allowCoreDumps ? .bool(true) : nil,
            .logLevel: logLevel.map(JSON.string),
        ]
        return flags.compactMapValues(\.self).merging(network.flags) { $1 }.merging(files.flags) { $1 }
            .merging(retention.flags) { $1 }
    }

    private func integer(_ number: Int?) -> JSON? { number.map { .integer(Int64($0)) } }

    private func list(_ texts: [String]) -> JSON? { texts.isEmpty ? nil : .array(texts.map(JSON.string)) }
}
