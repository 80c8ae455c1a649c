import Downloads

/// A session's configuration as a client asks for it.
extension SessionConfiguration {
    init(reading reader: inout FieldReader) throws(Problem) {
        self.init()
        headers = try reader.headers("headers") ?? []
        userAgent = try reader.string("user_agent")
        if let agent = userAgent, let fault = HeaderRule.fault(in: HeaderField(name: "User-Agent", value: agent)) {
            throw reader.invalid("user_agent", fault)
        }
        timeouts = try reader.object("timeouts", Timeouts.init(reading:)) ?? Timeouts()
        maxConcurrentJobs = try reader.integer("max_concurrent_jobs", in: 1...100_000).map(Int.init)
        maxConnectionsPerHost = try reader.integer("max_connections_per_host", in: 1...100_000).map(Int.init)
        retry = try reader.object("retry", RetryPolicy.init(reading:))
        directory = try reader.directory("directory")
        onConflict = try reader.choice("on_conflict", of: Destination.Conflict.self)
        waitFor = try reader.choices("wait_for", of: WaitFor.self)
        digest = try reader.choice("digest", of: Digest.self)
        priority = try reader.choice("priority", of: Priority.self)
        finishDelaySeconds = try reader.seconds("finish_delay_seconds", in: 0...86_400)
        metadata = try reader.metadata("metadata") ?? Metadata()
        try Self.refuseWhatIsToCome(&reader)
    }

    /// Fields of the contract whose defaults are all that this version does.
    private static func refuseWhatIsToCome(_ reader: inout FieldReader) throws(Problem) {
        try reader.unsupported("connections", unless: 1)
        try reader.unsupported("resume_data_ttl_seconds", unless: 604_800)
        for name in ["minimum_bytes_per_second", "rate_limit_bytes_per_second", "tls", "proxy"] {
            try reader.unsupported(name)
        }
    }
}
