import Downloads
import Foundation

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
        rateLimit = try reader.rateLimit("rate_limit_bytes_per_second")
        minimumSpeed = try reader.rateLimit("minimum_bytes_per_second")
        tls = try reader.object("tls", TLSRule.init(reading:)) ?? TLSRule()
        proxy = try reader.proxy("proxy")
        resumeDataTTL = try reader.seconds("resume_data_ttl_seconds", in: 0...315_360_000)
        // The one field of the contract whose default is all that this version does.
        try reader.unsupported("connections", unless: 1)
    }
}

extension TLSRule {
    init(reading reader: inout FieldReader) throws(Problem) {
        self.init()
        caFile = try reader.string("ca_file")
        if let caFile, !caFile.hasPrefix("/") || caFile.utf8.contains(0) {
            throw reader.invalid("ca_file", "must be an absolute path")
        }
        if let caFile, !FileManager.default.isReadableFile(atPath: caFile) {
            throw reader.invalid("ca_file", "names a file that fetchd cannot read")
        }
        pinnedPublicKeys = try reader.pins("pinned_public_keys") ?? [:]
        verify = try reader.bool("verify") ?? true
    }
}

extension FieldReader {
    /// By host, at least one key each.
    fileprivate mutating func pins(_ name: String) throws(Problem) -> [String: [String]]? {
        guard let value = value(name) else { return nil }
        guard let object = value.objectValue else { throw invalid(name, "must be an object: host to keys") }
        var hosts = FieldReader(object, at: pointer(to: name))
        var pins: [String: [String]] = [:]
        for host in object.names {
            let keys = try hosts.strings(host) ?? []
            guard !keys.isEmpty, keys.allSatisfy({ Data(base64Encoded: $0)?.count == 32 }) else {
                throw hosts.invalid(host, "must list SHA-256 digests of public keys, in base64")
            }
            pins[host.lowercased()] = keys
        }
        return pins
    }

    fileprivate mutating func proxy(_ name: String) throws(Problem) -> Proxy? {
        guard let text = try string(name) else { return nil }
        guard let proxy = Proxy(text) else {
            throw invalid(name, "must be http://host:port or socks5://host:port, with user:password@ where it asks")
        }
        return proxy
    }
}
