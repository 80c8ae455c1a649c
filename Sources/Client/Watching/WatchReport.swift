/// Shows the progress of the watched jobs: as bars, as lines, or only if an action of the user is needed.
protocol WatchReport: Sendable {
    /// The tracker has changed; nil: only the progress has changed.
    func told(_ change: JobTracker.Change?)
    /// A remark about the service: it is unavailable, or available again.
    func remarked(_ sentence: String)
    /// The service is unavailable for longer than a restart takes.
    func missed(_ error: ClientError)
}

extension WatchReport {
    /// By default nothing: reports that print remarks have already said that the service is unavailable.
    func missed(_ error: ClientError) {}
}
