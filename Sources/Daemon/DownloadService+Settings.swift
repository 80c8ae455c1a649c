import Aria2RPC
import Configuration
import Engine
import Formats
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

    /// The limits as aria2's interface shows and changes them: by the same way as `PATCH /v1/service`.
    func aria2Limits(_ store: Store) -> ServiceLimits {
        ServiceLimits(
            current: { [configuration] in
                let settings = configuration.effective.settings
                return .init(maxConcurrentJobs: settings.maxConcurrentJobs, rateLimit: settings.rateLimit)
            },
            change: { [configuration] before, after, note in
                var values: [(name: SettingName, value: JSON?)] = []
                if after.maxConcurrentJobs != before.maxConcurrentJobs {
                    values.append((.maxConcurrentJobs, .count(after.maxConcurrentJobs)))
                }
                if after.rateLimit != before.rateLimit {
                    values.append((.rateLimit, .integer(after.rateLimit ?? 0)))
                }
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
