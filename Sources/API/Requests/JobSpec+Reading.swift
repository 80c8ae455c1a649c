import Downloads

/// A job as a client asks for it. Everything is judged here, before anything is written.
extension JobSpec {
    init(reading reader: inout FieldReader) throws(Problem) {
        guard let url = try reader.source("url") else {
            throw Problem(
                .missingField, "\(FieldReader.shown(reader.pointer(to: "url"))) is missing: the address to download.",
                at: reader.pointer(to: "url"))
        }
        self.init(url: url)
        headers = try reader.headers("headers") ?? []
        destination = try reader.object("destination", Destination.init(reading:)) ?? Destination()
        priority = try reader.choice("priority", of: Priority.self)
        expectedSize = try reader.integer("expected_size", in: 0...Limits.largestSize)
        maxSize = try reader.integer("max_size", in: 0...Limits.largestSize)
        digest = try reader.choice("digest", of: Digest.self)
        timeouts = try reader.object("timeouts", Timeouts.init(reading:)) ?? Timeouts()
        retry = try reader.object("retry", RetryPolicy.init(reading:))
        waitFor = try reader.choices("wait_for", of: WaitFor.self)
        tags = try reader.tags("tags") ?? []
        metadata = try reader.metadata("metadata") ?? Metadata()
        try Self.refuseWhatIsToCome(&reader)
    }

    /// Fields of the contract whose defaults are all that this version does.
    private static func refuseWhatIsToCome(_ reader: inout FieldReader) throws(Problem) {
        try reader.unsupported("method", unless: "GET")
        try reader.unsupported("connections", unless: 1)
        for name in [
            "urls", "body", "form", "json", "credentials", "rate_limit_bytes_per_second", "checksum", "not_before",
            "deadline", "resume_from",
        ] {
            try reader.unsupported(name)
        }
    }
}

extension Destination {
    init(reading reader: inout FieldReader) throws(Problem) {
        self.init()
        directory = try reader.directory("directory")
        filename = try reader.filename("filename")
        onConflict = try reader.choice("on_conflict", of: Conflict.self)
        createDirectories = try reader.bool("create_directories") ?? true
    }
}

extension Timeouts {
    init(reading reader: inout FieldReader) throws(Problem) {
        self.init(
            requestSeconds: try reader.seconds("request_seconds", in: 0.1...86_400),
            connectSeconds: try reader.seconds("connect_seconds", in: 0.1...3600))
        try reader.unsupported("resource_seconds", unless: 604_800)
    }
}

extension RetryPolicy {
    init(reading reader: inout FieldReader) throws(Problem) {
        self.init()
        maxAttempts = try reader.integer("max_attempts", in: 1...1000).map(Int.init) ?? maxAttempts
        baseSeconds = try reader.seconds("base_seconds", in: 0...3600) ?? baseSeconds
        maxSeconds = try reader.seconds("max_seconds", in: 0...86_400) ?? maxSeconds
    }
}

private enum Limits {
    /// Bytes; file offsets are signed 64-bit numbers, JSON's numbers are exact to 2^53.
    static let largestSize: Int64 = 1 << 53
}
