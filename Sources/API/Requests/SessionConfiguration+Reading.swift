import Downloads
import Formats
import Foundation
import HTTPSemantics

/// Reads the configuration of a session from the request of a client.
extension SessionConfiguration {
    init(reading reader: inout FieldReader) throws(Problem) {
        self.init()
        for member in Member.allCases { try take(member, &reader) }
    }

    fileprivate enum Member: String, CaseIterable {
        case headers, timeouts, retry, directory, digest, decode, priority, metadata, tls, proxy, connections,
            acknowledgement
        case userAgent = "user_agent"
        case maxConcurrentJobs = "max_concurrent_jobs"
        case maxConnectionsPerHost = "max_connections_per_host"
        case onConflict = "on_conflict"
        case waitFor = "wait_for"
        case finishDelaySeconds = "finish_delay_seconds"
        case rateLimit = "rate_limit_bytes_per_second"
        case minimumSpeed = "minimum_bytes_per_second"
        case maxTotalSize = "max_total_size"
        case resumeDataTTL = "resume_data_ttl_seconds"
    }

    fileprivate mutating func take(_ member: Member, _ reader: inout FieldReader) throws(Problem) {
        let name = member.rawValue
        switch member {
        case .headers: headers = try reader.headers(name) ?? []
        case .userAgent: userAgent = try reader.userAgent(name)
        case .timeouts: timeouts = try reader.object(name, Timeouts.init(reading:)) ?? Timeouts()
        case .maxConcurrentJobs: maxConcurrentJobs = try reader.integer(name, in: 1...100_000).map(Int.init)
        case .maxConnectionsPerHost: maxConnectionsPerHost = try reader.integer(name, in: 1...100_000).map(Int.init)
        case .retry: retry = try reader.object(name, RetryPolicy.init(reading:))
        case .directory: directory = try reader.directory(name)
        case .onConflict: onConflict = try reader.choice(name, of: Destination.Conflict.self)
        case .waitFor: waitFor = try reader.choices(name, of: WaitFor.self)
        case .digest: digest = try reader.choice(name, of: Digest.self)
        case .decode: decodes = try reader.bool(name)
        case .priority: priority = try reader.choice(name, of: Priority.self)
        case .finishDelaySeconds: finishDelaySeconds = try reader.seconds(name, in: 0...86_400)
        case .metadata: metadata = try reader.metadata(name) ?? Metadata()
        case .rateLimit: rateLimit = try reader.bytesPerSecond(name)
        case .minimumSpeed: minimumSpeed = try reader.bytesPerSecond(name)
        case .maxTotalSize: maxTotalSize = try reader.integer(name, in: 0...FieldReader.largestSize)
        case .tls: tls = try reader.object(name, TLSRule.init(reading:)) ?? TLSRule()
        case .proxy: proxy = try reader.proxy(name)
        case .resumeDataTTL: resumeDataTTL = try reader.seconds(name, in: 0...315_360_000)
        case .connections: connections = try reader.connections(name)
        case .acknowledgement: acknowledgement = try reader.choice(name, of: Acknowledgement.self)
        }
    }
}

/// A merge patch of the configuration of a session (RFC 7396): a named member replaces the present value, `null` gives it its
/// default, and objects are merged member by member.
struct SessionPatch: Sendable {
    private let members: JSONObject

    init(reading reader: inout FieldReader) {
        members = reader.object
        // A member that the configuration does not have stays unread.
        for member in SessionConfiguration.Member.allCases { _ = reader.value(member.rawValue) }
    }

    /// Only the members that the patch names are checked: others may have been allowed earlier, such as a file that is gone.
    ///
    /// - Throws: 422 when a resulting value is not allowed.
    func applied(to configuration: SessionConfiguration) throws(Problem) -> SessionConfiguration {
        var present = configuration
        present.headers = configuration.headers.spelled(asIn: members["headers"]?.objectValue ?? [:])
        let document = present.request.objectValue ?? [:]
        var base = JSONObject()
        for (name, _) in members.members { base[name] = document[name] }
        var reader = FieldReader(base.merged(with: members, openMembers: Self.openMembers))
        var patched = configuration
        for member in SessionConfiguration.Member.allCases where members[member.rawValue] != nil {
            try patched.take(member, &reader)
        }
        // The store finds those that are still lost.
        patched.lost = []
        return patched
    }

    /// The objects whose members the client names.
    private static let openMembers: Set = ["headers", "metadata", "pinned_public_keys"]
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
    fileprivate mutating func userAgent(_ name: String) throws(Problem) -> String? {
        guard let agent = try string(name) else { return nil }
        if let fault = HeaderField(name: "User-Agent", value: agent).fault { throw invalid(name, fault) }
        return agent
    }

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
