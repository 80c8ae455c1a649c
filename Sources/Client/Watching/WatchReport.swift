/// What shows people, or programs, how the watched jobs come along. Two ways: bars, and lines.
protocol WatchReport: Sendable {
    /// The board has changed; nil: by nothing but progress.
    func told(_ change: JobBoard.Change?) throws
    /// Something beside the jobs: that the service is gone, that it is back.
    func remarked(_ sentence: String) throws
    /// Nothing more comes.
    func ended() throws
}
