/// What shows people how the watched jobs come along: in bars, in lines, or not at all unless somebody is needed.
protocol WatchReport: Sendable {
    /// The tracker has changed; nil: by nothing but progress.
    func told(_ change: JobTracker.Change?)
    /// Something beside the jobs: that the service is gone, that it is back.
    func remarked(_ sentence: String)
    /// It is gone for longer than a restart takes.
    func missed(_ error: ClientError)
}

extension WatchReport {
    /// Those who tell remarks have told that it is gone.
    func missed(_ error: ClientError) {}
}
