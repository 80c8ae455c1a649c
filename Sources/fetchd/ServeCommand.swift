import ArgumentParser
import Client
import Configuration
import Daemon
import Engine
import HTTPServer
import Storage
import StoragePostgres
import Webhooks

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "serve", "Runs the service until SIGTERM or SIGINT.",
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
            fetchd at once. On SIGHUP, fetchd reads the configuration file again, and applies what can change while it runs. \
            SIGUSR1 and SIGUSR2 are ignored. See docs/configuration.md.

            EXIT STATUS:
              0    stopped by SIGTERM or SIGINT, and everything is stored
              1    the service could not start; the error says why
              64   an option or a setting cannot be used
              74   stopped, but the disk failed or did not answer in time, and some changes could not be stored
              75   other nodes of the PostgreSQL database have taken over, or the server has lost changes: start fetchd again
              130  ended at once by a second signal, SIGINT
              143  ended at once by a second signal, SIGTERM
            """)

    @OptionGroup var options: ServeOptions

    func run() async throws {
        do {
            let read = { @Sendable [options] in try ServiceSettings(flags: options.flags, configFile: options.config) }
            try await Serving(try read(), reading: read).run()
        } catch let error as SettingsError {
            throw ValidationError(error.description)
        } catch let error as TokenMissing {
            throw ValidationError(error.description)
        } catch let error as StartError {
            StandardStreams.writeError("Error: \(error.description)")
            throw ExitCode.failure
        } catch is UnstoredError {
            throw ExitCode(ServeStatus.unstored.rawValue)
        } catch is NodeReplaced {
            throw ExitCode(ServeStatus.nodeReplaced.rawValue)
        }
    }
}

/// The exit statuses of `fetchd serve` other than 0, 1 and 64, as in sysexits.h.
enum ServeStatus: Int32 {
    /// The disk failed or did not answer in time, and some changes could not be stored (EX_IOERR).
    case unstored = 74
    /// Other nodes have taken over the jobs, or the PostgreSQL server has lost changes (EX_TEMPFAIL). Nothing in the memory of the
    /// process is right any more, so its supervisor starts another process.
    case nodeReplaced = 75

    /// Why the process ends if the stop of a service that was replaced takes too long.
    static let jobsAreElsewhere = "Other nodes have the jobs of this one."
}

/// Converts the settings to the options of each layer, within the system's limit on file descriptors.
extension ServiceSettings {
    var serviceOptions: DownloadService.Options {
        let values = start.values
        var options = DownloadService.Options(dataFolder: dataFolder, downloadsFolder: downloadsFolder)
        options.start = start
        let limit = descriptorLimit(of: DescriptorLimit.own)
        // Descriptors are kept for this number of clients while the service runs.
        let clients = limit.clients(beside: values.maxConcurrentJobs)
        let relayedFiles = relayedFiles(limit, clients)
        options.maxLookups = limit.lookups
        options.maxRelayedFiles = relayedFiles
        options.start.mostConcurrentJobs = limit.jobs(beside: clients + relayedFiles)
        options.additionalConnections = { limit.additionalConnections(beside: $0, and: clients + relayedFiles) }
        options.engine.closesParts = limit.closesParts
        options.store.key = values.key
        options.store.acceptsLostSecrets = values.acceptLostSecrets
        options.store.server = values.store.map { .postgres($0.url) }
        options.store.node.url = values.nodeURL?.url
        options.version = Version.text
        options.engine.tracesOrigins = values.traceOrigins
        options.engine.minimumSpeedSeconds = values.minimumSpeedSeconds
        options.webhooks.schedule = RetrySchedule(delays: values.webhookRetryDelays)
        options.feed.heartbeat = .seconds(max(0.1, values.streamHeartbeat))
        setServer(&options, values, clients)
        return options
    }

    private func setServer(_ options: inout DownloadService.Options, _ values: Settings, _ clients: Int) {
        options.server.address = values.listen?.host
        options.server.port = values.listen?.port ?? 0
        options.server.unixSocket = values.unixSocket.map { UnixSocket(path: $0, mode: values.unixSocketMode) }
        let connections = min(values.maxConnections ?? .max, clients)
        // A WebSocket is not counted as a connection, so each kind gets a half of the descriptors.
        options.server.webSocketLimit = values.aria2RPC ? connections / 2 : 0
        options.server.connectionLimit = connections - options.server.webSocketLimit
        // So no single client can keep all others out.
        options.server.connectionsPerAddress = values.maxConnectionsPerAddress ?? connections / 2
    }

    /// - Parameter count: of descriptors; nil: the limit is so high that it has no effect.
    func descriptorLimit(of count: Int?) -> DescriptorLimit {
        // The file of an upload is open while it is sent.
        let canCloseParts = Engine.Options.canCloseParts && !hasBuckets
        return DescriptorLimit(count, for: start.values.maxConcurrentJobs, canCloseParts: canCloseParts)
    }

    private var hasBuckets: Bool { start.values.locations.contains { $0.bucket != nil } }

    /// The number of files of other nodes, and of objects, that are passed on at once.
    private func relayedFiles(_ limit: DescriptorLimit, _ clients: Int) -> Int {
        guard start.values.store != nil || hasBuckets else { return 0 }
        return limit.relayedFiles(beside: start.values.maxConcurrentJobs, and: clients)
    }
}
