import Configuration
import Engine
import Storage

/// The settings that can change while the service runs.
extension DownloadService {
    /// Replaces the settings of the start that can change while the service runs. What a client has set still applies.
    ///
    /// - Returns: the settings whose start values differ.
    @discardableResult
    public func reload(_ start: StartSettings) -> [StartChange] {
        configuration.replaceStart(start, at: options.time.now)
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
        values.logLevel = logLevel
        return StartSettings(values, sources: settingSources, mostConcurrentJobs: mostConcurrentJobs)
    }

    fileprivate func limits(_ settings: EffectiveSettings) -> Engine.Limits {
        Engine.Limits(
            jobs: settings.maxConcurrentJobs, connectionsPerHost: settings.settings.maxConnectionsPerHost,
            additionalConnections: additionalConnections?(settings.maxConcurrentJobs)
                ?? engine.maxAdditionalConnections,
            rate: settings.rateLimit)
    }
}
