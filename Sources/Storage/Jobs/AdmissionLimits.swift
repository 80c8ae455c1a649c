import Downloads

/// Limits of how many attempts may run at once.
public struct AdmissionLimits: Sendable {
    /// Additional connections that running jobs use now.
    public struct Taken: Sendable {
        public var session: Name
        public var host: String
        public var count: Int

        public init(session: Name, host: String, count: Int) {
            self.session = session
            self.host = host
            self.count = count
        }
    }

    public var jobs: Int
    public var connectionsPerHost: Int
    public var taken: [Taken] = []

    public init(jobs: Int, connectionsPerHost: Int) {
        self.jobs = jobs
        self.connectionsPerHost = connectionsPerHost
    }
}
