import Aria2RPC
import Configuration
import Downloads
import Engine
import Formats
import Storage

/// The settings that can change while the service runs.
extension DownloadService {
    /// Replaces the settings of the start that can change while the service runs. What a client has set still applies.
    ///
    /// - Returns: the settings whose start values differ.
    @discardableResult
    public func reload(_ start: StartSettings) async -> [StartChange] {
        var start = start
        start.isNode = options.isNode
        let changes = configuration.replaceStart(start, at: options.time.now)
        do {
            try await configuration.audit(
                changes, by: AuditNote(caller: nil, name: nil, address: "local", action: "SIGHUP"))
        } catch {
            log.warning("The changes of the configuration are not in the audit log. \(error)")
        }
        return changes
    }

    /// The limits as aria2's interface shows and changes them: by the same way as `PATCH /v1/service`.
    func aria2Limits(_ store: Store) -> ServiceLimits {
        ServiceLimits(
            current: { [configuration] in
                let settings = configuration.effective.settings
                return .init(maxConcurrentJobs: settings.maxConcurrentJobs, rateLimit: settings.rateLimit)
            },
            change: { [configuration] change, note in
                var values: [(name: SettingName, value: JSON?)] = []
                if let jobs = change.maxConcurrentJobs { values.append((.maxConcurrentJobs, .count(jobs))) }
                if let rate = change.rateLimit { values.append((.rateLimit, .integer(rate))) }
                _ = try await configuration.change(try SettingsPatch(values), in: store, audit: note)
            })
    }

    /// Applies the settings to the engine and the log, now and after each change.
    func connect(_ engine: Engine, _ store: Store) {
        configuration.connect(to: store) { [options] settings in
            engine.apply(options.limits(settings))
            options.setLogLevel(settings.settings.logLevel)
        }
    }
}

extension DownloadService.Options {
    var start: StartSettings {
        var values = RunningSettings()
        values.rateLimit = engine.rateLimit
        values.maxConcurrentJobs = engine.maxConcurrentJobs
        values.maxConnectionsPerHost = engine.maxConnectionsPerHost
        values.schedule = schedule
        values.allowedNetworks = allowedNetworks
        values.deniedNetworks = deniedNetworks
        values.webhookNetworks = webhookNetworks
        values.hosts = hosts
        values.minimumFreeBytes = engine.minimumFreeBytes
        values.maxFileSize = engine.maxFileSize
        values.resumeDataMaxBytes = engine.maxResumeDataBytes
        values.maxParts = engine.maxParts
        values.eventRetention = engine.retention.acknowledged
        values.unacknowledgedRetention = engine.retention.unacknowledged
        values.finishedRetention = engine.finishedRetention?.acknowledged
        values.logLevel = logLevel
        return StartSettings(
            values, sources: settingSources, mostConcurrentJobs: mostConcurrentJobs, isNode: isNode)
    }

    fileprivate var isNode: Bool { store.server != nil }

    fileprivate func limits(_ settings: EffectiveSettings) -> Engine.Limits {
        let jobs = settings.maxConcurrentJobs
        return Engine.Limits(
            jobs: jobs, jobsOfAllNodes: settings.maxConcurrentJobsOfAllNodes,
            connectionsPerHost: settings.settings.maxConnectionsPerHost,
            additionalConnections: additionalConnections?(jobs) ?? engine.maxAdditionalConnections,
            rate: settings.rateLimit, storage: storageLimits(settings.settings))
    }

    private func storageLimits(_ settings: RunningSettings) -> Engine.StorageLimits {
        var limits = Engine.StorageLimits()
        limits.minimumFreeBytes = settings.minimumFreeBytes
        limits.maxFileSize = settings.maxFileSize
        limits.maxResumeDataBytes = settings.resumeDataMaxBytes
        limits.maxParts = settings.maxParts
        limits.retention = Retention(
            acknowledged: settings.eventRetention, unacknowledged: settings.unacknowledgedRetention)
        limits.finishedRetention = settings.finishedRetention.map {
            FinishedRetention(
                acknowledged: $0, unacknowledged: limits.retention.unacknowledged, deletesFiles: deletesFinishedFiles)
        }
        return limits
    }
}
