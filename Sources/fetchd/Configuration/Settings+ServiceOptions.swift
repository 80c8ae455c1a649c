import Daemon
import Engine
import Storage
import Webhooks

/// Converts the settings to the options of each layer, within the system's limit on file descriptors.
extension Settings {
    var serviceOptions: DownloadService.Options {
        var options = DownloadService.Options(dataFolder: dataDir, downloadsFolder: downloadsDir)
        options.minimumFreeBytes = files.minimumFreeBytes.map(Int64.init)
        options.fileModes = files.modes
        setNetwork(&options)
        options.maxLookups = DescriptorLimit.lookups
        options.allowsRehearsals = enableRehearsals
        options.acknowledgementPatience = acknowledgementPatience
        options.store.key = key
        options.version = Version.text
        setEngine(&options.engine)
        options.webhooks.schedule = RetrySchedule(delays: webhookRetryDelays)
        options.feed.heartbeat = .seconds(streamHeartbeat)
        options.api.token = token
        options.tokenDemand = tokenDemand
        options.api.publicHosts = publicHosts
        options.api.allowedOrigins = allowedOrigins
        options.server.address = listen?.host
        options.server.port = listen?.port ?? 0
        options.server.unixSocket = unixSocket
        let connections = min(maxConnections ?? .max, DescriptorLimit.clients(beside: maxConcurrentJobs))
        options.server.connectionLimit = connections
        // So no single client can keep all others out.
        options.server.connectionsPerAddress = maxConnectionsPerAddress ?? connections / 2
        return options
    }

    private func setNetwork(_ options: inout DownloadService.Options) {
        options.allowedNetworks = network.allowed
        options.deniedNetworks = network.denied
        options.webhookNetworks = network.allowedForWebhooks
        options.hosts = network.hosts
    }

    private func setEngine(_ engine: inout Engine.Options) {
        engine.maxConcurrentJobs = min(maxConcurrentJobs, DescriptorLimit.jobs)
        engine.maxAdditionalConnections = DescriptorLimit.additionalConnections(beside: engine.maxConcurrentJobs)
        engine.maxConnectionsPerHost = maxConnectionsPerHost
        engine.maxResumeDataBytes = resumeDataMaxBytes.map(Int64.init)
        engine.maxParts = files.maxParts
        engine.maxFileSize = files.maxFileSize.map(Int64.init)
        engine.rateLimit = rateLimit.map(Int64.init)
        engine.minimumSpeedSeconds = minimumSpeedSeconds
        engine.retention = Retention(acknowledged: eventRetention, unacknowledged: unacknowledgedRetention)
        engine.finishedRetention = finishedRetention.map {
            FinishedRetention(
                acknowledged: $0, unacknowledged: unacknowledgedRetention,
                deletesFiles: finishedRetentionFiles == .delete)
        }
    }
}
