import Configuration
import Daemon
import Logging

/// Reads the settings again while the service runs, and applies those that can change.
struct Reloading: Sendable {
    /// The settings with which the service was started.
    let started: Settings
    /// What the system allows, as at the start.
    let mostConcurrentJobs: Int
    /// Reads the settings from all of their sources.
    let read: @Sendable () throws -> Settings
    let log: Logger

    /// If one setting has a mistake, nothing changes.
    func reload(_ service: DownloadService) async {
        let settings: Settings
        do {
            settings = try read()
        } catch {
            let reasons = "\(error)".replacing("\n", with: " ")
            return log.error("The configuration was read again and has a mistake, so nothing has changed. \(reasons)")
        }
        var start = settings.start
        start.mostConcurrentJobs = mostConcurrentJobs
        let changes = await service.reload(start)
        for change in changes { log.notice("\(Self.report(change))") }
        let waiting = started.names(changedIn: settings)
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
        Key.allCases.filter { $0.running == nil && given[$0] != other.given[$0] }.map(\.rawValue)
    }
}
