import API
import Aria2RPC
import Configuration
import Daemon
import HTTPServer
import Storage
import Webhooks

/// Converts the settings to the options of each layer, within the system's limit on file descriptors.
extension ServiceSettings {
    var serviceOptions: DownloadService.Options {
        let values = start.values
        var options = DownloadService.Options(dataFolder: dataFolder, downloadsFolder: downloadsFolder)
        options.start = start
        options.maxLookups = DescriptorLimit.lookups
        options.maxRelayedFiles = relayedFiles
        let reserved = clients + relayedFiles
        options.start.mostConcurrentJobs = DescriptorLimit.jobs(beside: reserved)
        options.additionalConnections = { jobs in
            DescriptorLimit.additionalConnections(beside: jobs, and: reserved)
        }
        options.store.key = values.key
        options.store.acceptsLostSecrets = values.acceptLostSecrets
        options.store.server = values.store?.url
        options.store.node.url = values.node?.url
        options.version = Version.text
        options.engine.tracesOrigins = values.traceOrigins
        options.engine.minimumSpeedSeconds = values.minimumSpeedSeconds
        options.webhooks.schedule = RetrySchedule(delays: values.webhookRetryDelays)
        options.feed.heartbeat = .seconds(max(0.1, values.streamHeartbeat))
        options.api.token = values.token
        options.api.logsRequests = values.requestLog
        // For clients and load balancers that use this name. Requests that another node passes on have its signature instead.
        options.api.publicHosts = values.publicHosts + [values.node?.host].compactMap(\.self)
        options.api.trustedProxies = values.trustedProxies
        options.api.allowedOrigins = values.allowedOrigins
        setServer(&options, values)
        return options
    }

    private func setServer(_ options: inout DownloadService.Options, _ values: Settings) {
        options.server.address = values.listen?.host
        options.server.port = values.listen?.port ?? 0
        options.server.unixSocket = values.unixSocket.map { UnixSocket(path: $0, mode: values.unixSocketMode) }
        let connections = min(values.maxConnections ?? .max, clients)
        if values.aria2RPC {
            var aria2 = Aria2Service.Options()
            aria2.session = values.aria2Session
            options.aria2 = aria2
            // A WebSocket is not counted as a connection, so each kind gets a half of the descriptors.
            options.server.webSocketLimit = connections / 2
        } else {
            options.server.webSocketLimit = 0
        }
        options.server.connectionLimit = connections - options.server.webSocketLimit
        // So no single client can keep all others out.
        options.server.connectionsPerAddress = values.maxConnectionsPerAddress ?? connections / 2
    }

    /// The number of clients, for which descriptors are kept while the service runs.
    private var clients: Int { DescriptorLimit.clients(beside: start.values.maxConcurrentJobs) }

    /// The number of files of other nodes that are passed on at once. A service with SQLite has no other nodes.
    private var relayedFiles: Int {
        guard start.values.store != nil else { return 0 }
        return DescriptorLimit.relayedFiles(beside: start.values.maxConcurrentJobs, and: clients)
    }
}
