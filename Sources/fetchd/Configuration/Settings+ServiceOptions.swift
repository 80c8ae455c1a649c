import Aria2RPC
import Configuration
import Daemon
import Engine
import Storage
import Webhooks

/// Converts the settings to the options of each layer, within the system's limit on file descriptors.
extension Settings {
    var serviceOptions: DownloadService.Options {
        var options = DownloadService.Options(dataFolder: dataDir, downloadsFolder: downloadsDir)
        options.fileModes = fileModes
        options.folderSharing = folderSharing
        options.deletesFinishedFiles = finishedRetentionFiles == .delete
        setRunning(&options)
        options.maxLookups = DescriptorLimit.lookups
        options.allowsRehearsals = enableRehearsals
        options.aria2 = aria2Session.map { session in
            var aria2 = Aria2Service.Options()
            aria2.session = session
            return aria2
        }
        options.acknowledgementPatience = acknowledgementPatience
        options.store.key = key
        options.store.acceptsLostSecrets = acceptLostSecrets
        options.store.server = store?.url
        options.store.node.url = nodeAddress?.url
        options.version = Version.text
        setEngine(&options.engine)
        options.webhooks.schedule = RetrySchedule(delays: webhookRetryDelays)
        options.feed.heartbeat = .seconds(streamHeartbeat)
        options.api.token = token
        options.api.logsRequests = observation.requestLog
        options.tokenDemand = tokenDemand
        // For clients and load balancers that use this name. Requests that another node passes on have its signature instead.
        options.api.publicHosts = publicHosts + [nodeAddress?.host].compactMap(\.self)
        options.api.trustedProxies = trustedProxies
        options.api.allowedOrigins = allowedOrigins
        options.server.address = listen?.host
        options.server.port = listen?.port ?? 0
        options.server.unixSocket = unixSocket
        let connections = min(maxConnections ?? .max, clients)
        // A WebSocket is not counted as a connection, so each kind gets a half of the descriptors.
        options.server.webSocketLimit = aria2Session == nil ? 0 : connections / 2
        options.server.connectionLimit = connections - options.server.webSocketLimit
        // So no single client can keep all others out.
        options.server.connectionsPerAddress = maxConnectionsPerAddress ?? connections / 2
        return options
    }

    /// The number of clients, for which descriptors are kept while the service runs.
    private var clients: Int { DescriptorLimit.clients(beside: start.values.maxConcurrentJobs) }

    /// The number of files of other nodes that are passed on at once. A service with SQLite has no other nodes.
    private var relayedFiles: Int {
        guard store != nil else { return 0 }
        return DescriptorLimit.relayedFiles(beside: start.values.maxConcurrentJobs, and: clients)
    }

    private func setRunning(_ options: inout DownloadService.Options) {
        options.allowedNetworks = start.values.allowedNetworks
        options.deniedNetworks = start.values.deniedNetworks
        options.webhookNetworks = start.values.webhookNetworks
        options.hosts = start.values.hosts
        options.schedule = start.values.schedule
        options.logLevel = start.values.logLevel
        options.settingSources = start.sources
        options.maxRelayedFiles = relayedFiles
        let reserved = clients + relayedFiles
        options.mostConcurrentJobs = DescriptorLimit.jobs(beside: reserved)
        options.additionalConnections = { jobs in
            DescriptorLimit.additionalConnections(beside: jobs, and: reserved)
        }
    }

    private func setEngine(_ engine: inout Engine.Options) {
        engine.tracesOrigins = observation.traceOrigins
        engine.maxConcurrentJobs = start.values.maxConcurrentJobs
        engine.maxConnectionsPerHost = start.values.maxConnectionsPerHost
        engine.rateLimit = start.values.rateLimit
        engine.minimumSpeedSeconds = minimumSpeedSeconds
        setStorage(&engine, start.values)
    }

    private func setStorage(_ engine: inout Engine.Options, _ values: RunningSettings) {
        engine.minimumFreeBytes = values.minimumFreeBytes
        engine.maxResumeDataBytes = values.resumeDataMaxBytes
        engine.maxParts = values.maxParts
        engine.maxFileSize = values.maxFileSize
        engine.retention = Retention(
            acknowledged: values.eventRetention, unacknowledged: values.unacknowledgedRetention)
        engine.finishedRetention = values.finishedRetention.map {
            FinishedRetention(acknowledged: $0, unacknowledged: engine.retention.unacknowledged)
        }
    }
}
