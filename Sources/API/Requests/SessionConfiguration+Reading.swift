import Downloads
import Formats
import Foundation
import HTTPSemantics

/// Reads the configuration of a session from the request of a client.
extension SessionConfiguration {
    init(reading reader: inout FieldReader) throws(Problem) {
        self.init()
        headers = try reader.headers("headers") ?? []
        userAgent = try reader.string("user_agent")
        if let agent = userAgent, let fault = HeaderField(name: "User-Agent", value: agent).fault {
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
        decodes = try reader.bool("decode")
        priority = try reader.choice("priority", of: Priority.self)
        finishDelaySeconds = try reader.seconds("finish_delay_seconds", in: 0...86_400)
        metadata = try reader.metadata("metadata") ?? Metadata()
        rateLimit = try reader.bytesPerSecond("rate_limit_bytes_per_second")
        minimumSpeed = try reader.bytesPerSecond("minimum_bytes_per_second")
        maxTotalSize = try reader.integer("max_total_size", in: 0...FieldReader.largestSize)
        tls = try reader.object("tls", TLSRule.init(reading:)) ?? TLSRule()
        proxy = try reader.proxy("proxy")
        resumeDataTTL = try reader.seconds("resume_data_ttl_seconds", in: 0...315_360_000)
        connections = try reader.connections("connections")
    }
}

extension TLSRule {
    init(reading reader: inout FieldReader) throws(Problem) {
        self.init()
        caFile = try reader.certificates("ca_file")
        pinnedPublicKeys = try reader.pins("pinned_public_keys") ?? [:]
        verify = try reader.bool("verify") ?? true
    }
}

extension FieldReader {
    /// The path of a file with certificates. The file is checked here, because otherwise every transfer would report
    /// its errors.
    fileprivate mutating func certificates(_ name: String) throws(Problem) -> String? {
        guard let path = try string(name) else { return nil }
        guard path.hasPrefix("/"), !path.utf8.contains(0) else { throw invalid(name, "must be an absolute path") }
        // Resolves symbolic links, because the certificate bundle of the system is one.
        let target = URL(filePath: path).resolvingSymlinksInPath().path
        let type = try? FileManager.default.attributesOfItem(atPath: target)[.type] as? FileAttributeType
        // One sentence for every reason: the answer must not tell a client which files exist.
        guard type == .typeRegular, let content = FileManager.default.contents(atPath: path),
            content.range(of: Data("-----BEGIN CERTIFICATE-----".utf8)) != nil
        else { throw invalid(name, "must name a file with certificates in PEM form that fetchd can read") }
        return path
    }

    /// The pinned keys by host, at least one key for each host.
    fileprivate mutating func pins(_ name: String) throws(Problem) -> [String: [String]]? {
        guard let value = value(name) else { return nil }
        guard let object = value.objectValue else { throw invalid(name, "must be an object: host to keys") }
        var hosts = FieldReader(object, at: pointer(to: name))
        var pins: [String: [String]] = [:]
        for host in object.names {
            // A pin for a host that never matches would have no effect, without an error.
            let url = "https://\(host)/"
            guard URLRule.fault(in: url) == nil, url.hostRange.map({ url[$0] == host }) ?? false else {
                throw hosts.invalid(host, "must be the name or address of a host, without port")
            }
            let keys = try hosts.strings(host) ?? []
            guard !keys.isEmpty, keys.allSatisfy({ Data(base64Encoded: $0)?.count == 32 }) else {
                throw hosts.invalid(host, "must list SHA-256 digests of public keys, in base64")
            }
            pins[URLRule.host(of: url)] = keys
        }
        return pins
    }

    fileprivate mutating func proxy(_ name: String) throws(Problem) -> Proxy? {
        guard let text = try string(name) else { return nil }
        guard let proxy = Proxy(text) else {
            throw invalid(
                name,
                "must be http://host:port or socks5://host:port, with user:password@ before the host if the proxy requires credentials"
            )
        }
        return proxy
    }
}
