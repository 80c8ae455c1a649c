import ArgumentParser
import Daemon
import Formats
import Foundation

/// `fetchd serve`. The options are read as they are given; what they mean together with environment and file is decided
/// by `Settings`.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Runs the service until SIGTERM or SIGINT.",
        discussion: """
            Every option can also be given as an environment variable, FETCHD_ and its name in capitals with _ for - \
            (FETCHD_LISTEN, FETCHD_DATA_DIR, ...; lists separated by commas), or as a member of the JSON file that \
            --config names ("listen", "data_dir", ...; lists as arrays). An option wins over the environment, the \
            environment over the file.

            FETCHD_TOKEN (or "token" in the file) is the bearer token that every request has to carry. It has no option, \
            because command lines can be read by others. Without it only loopback addresses are listened on.

            The service is ready when GET /readyz answers 200. SIGTERM lets running transfers keep what they have and \
            ends; they go on from there at the next start, as they do after a crash. A second SIGTERM ends fetchd at once.

            EXIT STATUS:
              0    stopped by SIGTERM or SIGINT, and everything is stored
              1    it could not start, and says why
              64   an option or a setting cannot be used
              74   stopped, but the disk failed or did not answer in time: something could not be stored
              130  ended at once by a second signal, SIGINT
              143  ended at once by a second signal, SIGTERM
            """)

    @Option(help: ArgumentHelp("A JSON file with any of these settings. (default: none)", valueName: "file"))
    var config: String?

    @Option(
        help: ArgumentHelp(
            "The address and port of the API; port 0 lets the system choose. (default: \(Settings.Defaults.listen))",
            valueName: "host:port"))
    var listen: String?

    @Option(
        help: ArgumentHelp(
            "The folder of the database; made if missing, used by one service at a time. (default: \(Settings.Defaults.dataDir))",
            valueName: "dir"))
    var dataDir: String?

    @Option(
        help: ArgumentHelp(
            "The folder that files are downloaded into; made if missing. (default: \(Settings.Defaults.downloadsDir))",
            valueName: "dir"))
    var downloadsDir: String?

    @Option(
        help: ArgumentHelp(
            "Jobs that run at once, 1 to 10000. (default: \(Settings.Defaults.maxConcurrentJobs))", valueName: "n"))
    var maxConcurrentJobs: Int?

    @Option(
        help: ArgumentHelp(
            "Connections to one host and port at once, 1 to 10000. (default: \(Settings.Defaults.maxConnectionsPerHost))",
            valueName: "n"))
    var maxConnectionsPerHost: Int?

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "A network, such as 192.168.0.0/16, that downloads and their proxies may reach although it is not public; repeatable. Webhooks may be posted anywhere. (default: none)",
            valueName: "cidr"))
    var allowNetwork: [String] = []

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "A name of this service that clients use in URLs (the Host header), besides localhost and addresses; repeatable. (default: none)",
            valueName: "name"))
    var publicHost: [String] = []

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "An origin, such as http://localhost:9000, whose web pages may use the API from a browser (CORS); repeatable. * is any, and needs a token. See docs/web.md. (default: none)",
            valueName: "origin"))
    var allowOrigin: [String] = []

    @Option(
        help: ArgumentHelp(
            "Seconds before each attempt of a webhook delivery, the first included. (default: \(Settings.Defaults.webhookRetryDelays))",
            valueName: "s,s,..."))
    var webhookRetryDelays: String?

    @Option(
        help: ArgumentHelp(
            "Seconds that a finished batch may stay unacknowledged before the log and the metrics say so. (default: \(Int(Settings.Defaults.acknowledgementPatience)))",
            valueName: "seconds"))
    var acknowledgementPatience: Double?

    @Option(
        help: ArgumentHelp(
            "Seconds that events and deliveries are kept once they were acknowledged. (default: \(Int(Settings.Defaults.eventRetention)), a week)",
            valueName: "seconds"))
    var eventRetention: Double?

    @Option(
        help: ArgumentHelp(
            "Seconds that events nobody has acknowledged, and pending deliveries, are kept. (default: \(Int(Settings.Defaults.unacknowledgedRetention)), 30 days)",
            valueName: "seconds"))
    var unacknowledgedRetention: Double?

    @Option(
        help: ArgumentHelp(
            "Bytes that unfinished downloads which do not run (paused, waiting, failed) may take together; beyond, the oldest are forgotten and begin anew. (default: no limit)",
            valueName: "bytes"))
    var resumeDataMaxBytes: Int?

    @Option(
        help: ArgumentHelp(
            "Bytes that downloads leave free on the file system of the downloads folder; a job for which there is no room waits. (default: 1 % of the file system, at most 1 GiB)",
            valueName: "bytes"))
    var minimumFreeBytes: Int?

    @Option(
        help: ArgumentHelp(
            "Bytes a second that all transfers together may receive. (default: no limit)", valueName: "bytes"))
    var rateLimitBytesPerSecond: Int?

    @Option(
        help: ArgumentHelp(
            "Seconds over which a session's minimum_bytes_per_second is judged. (default: \(Int(Settings.Defaults.minimumSpeedSeconds)))",
            valueName: "seconds"))
    var minimumSpeedSeconds: Double?

    @Option(
        help: ArgumentHelp(
            "Seconds after which a quiet stream of events says that it is still there. (default: \(Int(Settings.Defaults.streamHeartbeat)))",
            valueName: "seconds"))
    var streamHeartbeat: Double?

    @Option(
        help: ArgumentHelp(
            "Seconds that a stop may take, when a disk hangs for example. Then fetchd ends with status 74. (default: \(Int(Settings.Defaults.stopTimeout)))",
            valueName: "seconds"))
    var stopTimeout: Double?

    @Flag(
        help: ArgumentHelp(
            "Take jobs with rehearse: URLs, which make up a download that succeeds or fails as the URL says; see docs/sessions.md. (default: off)"
        ))
    var enableRehearsals = false

    @Option(
        help: ArgumentHelp(
            "How much is logged: trace, debug, info, notice, warning, error or critical. (default: \(Settings.Defaults.logLevel))",
            valueName: "level"))
    var logLevel: String?

    func run() async throws {
        do {
            let settings = try Settings(flags: flags, configFile: config)
            try await Serving(settings).run()
        } catch let error as SettingsError {
            throw ValidationError(error.description)
        } catch let error as StartError {
            FileHandle.standardError.write(Data("Error: \(error.description)\n".utf8))
            throw ExitCode.failure
        } catch is UnstoredError {
            throw ExitCode(ServeStatus.unstored.rawValue)
        }
    }

    /// Only those that were given.
    private var flags: [Settings.Key: JSON] {
        let flags: [Settings.Key: JSON?] = [
            .listen: listen.map(JSON.string),
            .dataDir: dataDir.map(JSON.string),
            .downloadsDir: downloadsDir.map(JSON.string),
            .maxConcurrentJobs: integer(maxConcurrentJobs),
            .maxConnectionsPerHost: integer(maxConnectionsPerHost),
            .allowNetwork: list(allowNetwork),
            .publicHost: list(publicHost),
            .allowOrigin: list(allowOrigin),
            .webhookRetryDelays: webhookRetryDelays.flatMap { list($0.split(separator: ",").map(String.init)) },
            .acknowledgementPatience: acknowledgementPatience.map(JSON.number),
            .eventRetention: eventRetention.map(JSON.number),
            .unacknowledgedRetention: unacknowledgedRetention.map(JSON.number),
            .resumeDataMaxBytes: integer(resumeDataMaxBytes),
            .minimumFreeBytes: integer(minimumFreeBytes),
            .rateLimit: integer(rateLimitBytesPerSecond),
            .minimumSpeedSeconds: minimumSpeedSeconds.map(JSON.number),
            .streamHeartbeat: streamHeartbeat.map(JSON.number),
            .stopTimeout: stopTimeout.map(JSON.number),
            .enableRehearsals: enableRehearsals ? .bool(true) : nil,
            .logLevel: logLevel.map(JSON.string),
        ]
        return flags.compactMapValues(\.self)
    }

    private func integer(_ number: Int?) -> JSON? { number.map { .integer(Int64($0)) } }

    private func list(_ texts: [String]) -> JSON? { texts.isEmpty ? nil : .array(texts.map(JSON.string)) }
}
