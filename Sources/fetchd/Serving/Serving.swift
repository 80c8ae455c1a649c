import Base
import Configuration
import Daemon
import Formats
import Foundation
import Logging

/// `fetchd serve` as a process.
struct Serving {
    private let settings: ServiceSettings
    private let values: Settings
    private let log: Logger
    private let level: LogLevel
    private let read: @Sendable () throws -> ServiceSettings

    /// - Parameter read: reads the settings again, after SIGHUP.
    init(_ settings: ServiceSettings, reading read: @escaping @Sendable () throws -> ServiceSettings) {
        self.settings = settings
        self.read = read
        values = settings.start.values
        let level = LogLevel(values.logLevel)
        let format = values.logsJSON ? LogFormat.json : .text
        LoggingSystem.bootstrap { _ in LineLogHandler(format, from: level, to: .standardError) }
        self.level = level
        log = Logger(label: "fetchd")
    }

    /// - Throws: `StartError`; `UnstoredError`; `NodeReplaced`.
    func run() async throws {
        StopSignals.ignoreOthers()
        let signals = StopSignals(stopWithin: values.stopTimeout, after: values.stopDelay)
        do {
            try await run(signals)
        } catch is NodeReplaced where signals.isRequested {
            // A signal has come after the end of the service.
        }
    }

    private func run(_ signals: StopSignals) async throws {
        if !values.allowCoreDumps { CoreDumps.disable() }
        announceFolders()
        DescriptorLimit.raise()
        var options = settings.serviceOptions
        let mostConcurrentJobs = options.start.mostConcurrentJobs
        if mostConcurrentJobs < values.maxConcurrentJobs {
            log.warning(
                "The limit on file descriptors allows \(mostConcurrentJobs) jobs at once, not \(values.maxConcurrentJobs). Raise the limit (ulimit -Hn)."
            )
        }
        options.setLogLevel = { [level] in level.level = $0 }
        let service = DownloadService(options, log: log)
        let supervisor = Supervisor(environment: ProcessInfo.processInfo.environment, log: log)
        await signals.install()
        let reloading = Reloading(started: values, mostConcurrentJobs: mostConcurrentJobs, read: read, log: log)
        let reloads = await ReloadSignal.heed()
        try await withThrowingTaskGroup { group in
            group.addTask { for await _ in reloads { await reloading.reload(service) } }
            group.addTask {
                for await _ in signals.requests {
                    supervisor.reportStopping()
                    if values.stopDelay > 0, service.announceStop() {
                        log.notice(
                            "Stopping in \(values.stopDelay) s. Until then, fetchd answers requests, and /readyz is 503. A second signal ends fetchd at once."
                        )
                        try? await Task.sleep(for: .seconds(values.stopDelay))
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
                Task {
                    // The first passes of the workers need the code, too.
                    try? await Task.sleep(for: .seconds(1))
                    FreedMemory.unmapCode()
                }
            }
            try await service.run(
                onReady: isReady, onWaiting: supervisor.reportWaiting, onReplaced: { signals.limitReplacement() })
            group.cancelAll()
        }
    }

    private func addresses(port: UInt16) -> String {
        let network = values.listen.map { "http://\($0.with(port: port))" }
        let local = values.unixSocket.map { "unix:\($0)" }
        return [network, local].compactMap(\.self).joined(separator: " and ")
    }

    private func announceFolders() {
        let (data, downloads) = (AbsolutePath.of(settings.dataFolder), AbsolutePath.of(settings.downloadsFolder))
        let database = values.store?.shown ?? "\(data)/fetchd.sqlite"
        log.notice("fetchd \(Version.text) starts. Database: \(database). Downloads: \(downloads).")
        if let warning = settings.unknownVariables.warning { log.warning("\(warning)") }
    }
}

/// Reads the settings again while the service runs, and applies those that can change.
struct Reloading: Sendable {
    let started: Settings
    /// What the system allows, as at the start.
    let mostConcurrentJobs: Int
    let read: @Sendable () throws -> ServiceSettings
    let log: Logger

    /// If one setting has a mistake, nothing changes.
    func reload(_ service: DownloadService) async {
        var start: StartSettings
        do {
            start = try read().start
        } catch {
            let reasons = "\(error)".replacing("\n", with: " ")
            return log.error("The configuration was read again and has a mistake, so nothing has changed. \(reasons)")
        }
        start.mostConcurrentJobs = mostConcurrentJobs
        let changes = await service.reload(start)
        for change in changes { log.notice("\(Self.report(change))") }
        let waiting = started.names(changedIn: start.values)
        if !waiting.isEmpty {
            log.warning(
                "The configuration was read again. These settings have changed and apply after a restart: \(waiting.joined(separator: ", "))."
            )
        }
        if changes.isEmpty, waiting.isEmpty { log.notice("The configuration was read again. Nothing has changed.") }
    }

    private static func report(_ change: StartChange) -> String {
        let text =
            "The configuration was read again. \(change.name.rawValue): \(change.before.written) -> \(change.after.written)"
        return change.isOverridden ? text + ". The value that a client has set still applies." : text + "."
    }
}

extension Settings {
    /// The settings that differ, and that only a restart changes. Their values may be secrets.
    fileprivate func names(changedIn other: Settings) -> [String] {
        Setting.all.filter { !$0.isRunning && $0.value(in: self) != $0.value(in: other) }.map(\.name.rawValue)
    }
}
