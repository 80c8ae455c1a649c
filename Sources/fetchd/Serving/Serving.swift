import Daemon
import Foundation
import LogLines
import Logging

/// `fetchd serve` as a process: raises the limit on file descriptors, runs the service, and stops it on a signal.
struct Serving {
    private let settings: Settings
    private let log: Logger
    private let level: LogLevel
    private let read: @Sendable () throws -> Settings

    /// - Parameter read: reads the settings again, after SIGHUP.
    init(_ settings: Settings, reading read: @escaping @Sendable () throws -> Settings) {
        (self.settings, self.read) = (settings, read)
        let level = LogLevel(settings.start.values.logLevel)
        let format = settings.observation.logFormat
        LoggingSystem.bootstrap { _ in LineLogHandler(format, from: level, to: .standardError) }
        (self.level, log) = (level, Logger(label: "fetchd"))
    }

    /// - Throws: `StartError`; `UnstoredError`; `NodeReplaced` if the system refuses to begin the program again.
    func run() async throws {
        StopSignals.ignoreOthers()
        let signals = StopSignals(stopWithin: settings.stopTimeout, after: settings.stopDelay)
        do {
            try await run(signals)
        } catch let error as NodeReplaced {
            // A signal may have come after the end of the service.
            guard !signals.isRequested else { return }
            Restart.now()
            throw error
        }
    }

    private func run(_ signals: StopSignals) async throws {
        if !settings.allowCoreDumps { CoreDumps.disable() }
        announceFolders()
        DescriptorLimit.raise()
        var options = settings.serviceOptions
        if options.mostConcurrentJobs < options.engine.maxConcurrentJobs {
            log.warning(
                "The limit on file descriptors allows \(options.mostConcurrentJobs) jobs at once, not \(options.engine.maxConcurrentJobs). Raise the limit (ulimit -Hn)."
            )
        }
        options.setLogLevel = { [level] in level.level = $0 }
        let service = DownloadService(options, log: log)
        let supervisor = Supervisor(environment: ProcessInfo.processInfo.environment, log: log)
        await signals.install()
        let reloading = Reloading(
            started: settings, mostConcurrentJobs: options.mostConcurrentJobs, read: read, log: log)
        let reloads = await ReloadSignal.heed()
        try await withThrowingTaskGroup { group in
            group.addTask { for await _ in reloads { await reloading.reload(service) } }
            group.addTask {
                for await _ in signals.requests {
                    supervisor.reportStopping()
                    if settings.stopDelay > 0, service.announceStop() {
                        log.notice(
                            "Stopping in \(settings.stopDelay) s. Until then, fetchd answers requests, and /readyz is 503. A second signal ends fetchd at once."
                        )
                        try? await Task.sleep(for: .seconds(settings.stopDelay))
                    }
                    log.notice("Stopping. A second signal ends fetchd at once.")
                    service.stop()
                }
            }
            group.addTask { await supervisor.watch { await service.heartbeat() } }
            let isReady = { @Sendable (port: UInt16) in
                let address = addresses(port: port)
                log.notice("fetchd \(Version.text) is ready at \(address)")
                supervisor.reportReady(at: address)
            }
            try await service.run(
                onReady: isReady, onWaiting: supervisor.reportWaiting, onReplaced: { signals.limitReplacement() })
            group.cancelAll()
        }
    }

    private func addresses(port: UInt16) -> String {
        let network = settings.listen.map { "http://\($0.with(port: port))" }
        let local = settings.unixSocket.map { "unix:\($0.path)" }
        return [network, local].compactMap(\.self).joined(separator: " and ")
    }

    /// The first line of the log.
    private func announceFolders() {
        let (data, downloads) = (AbsolutePath.of(settings.dataDir), AbsolutePath.of(settings.downloadsDir))
        let database = settings.store?.shown ?? "\(data)/fetchd.sqlite"
        log.notice("fetchd \(Version.text) starts. Database: \(database). Downloads: \(downloads).")
        if let warning = settings.unknownVariables.warning { log.warning("\(warning)") }
        guard settings.usesFoldersOfWorkingDirectory else { return }
        log.warning(
            "fetchd uses the database of the working directory, because it has one. A start elsewhere does not find it. Name it: --data-dir \(data) --downloads-dir \(downloads)."
        )
    }
}
