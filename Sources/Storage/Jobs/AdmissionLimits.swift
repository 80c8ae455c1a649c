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

    /// Jobs that run on this service.
    public var jobs: Int
    /// Jobs that run on all nodes of the database together; nil: only the limit of each node applies.
    public var jobsOfAllNodes: Int?
    public var connectionsPerHost: Int
    public var taken: [Taken] = []

    public init(jobs: Int, ofAllNodes all: Int? = nil, connectionsPerHost: Int) {
        self.jobs = jobs
        jobsOfAllNodes = all
        self.connectionsPerHost = connectionsPerHost
    }

    public func with(_ taken: [Taken]) -> AdmissionLimits {
        var limits = self
        limits.taken = taken
        return limits
    }
}
