import Downloads
import Formats
import Foundation
import HTTPSemantics

extension SessionConfiguration {
    fileprivate static let members: [WireMember<SessionConfiguration>] = [
        WireMember("headers", \.headers, .headers, default: []),
        WireMember("user_agent", \.userAgent, .text { HeaderField(name: "User-Agent", value: $0).fault }),
        WireMember("timeouts", \.timeouts, .timeouts, default: Timeouts()),
        WireMember("max_concurrent_jobs", \.maxConcurrentJobs, .count(in: 1...100_000)),
        WireMember("max_connections_per_host", \.maxConnectionsPerHost, .count(in: 1...100_000)),
        WireMember("hosts", \.hostRules, .hostRules, default: HostRules()),
        WireMember("retry", \.retry, .retry),
        WireMember("destination", \.location, .destinationOfSession),
        WireMember("directory", \.directory, .directory),
        WireMember("on_conflict", \.onConflict, .choice),
        WireMember("wait_for", \.waitFor, .choices()),
        WireMember("digest", \.digest, .choice),
        WireMember("decode", \.decodes, .bool),
        WireMember("resume_policy", \.resumePolicy, .choice),
        WireMember("priority", \.priority, .choice),
        WireMember("finish_delay_seconds", \.finishDelaySeconds, .seconds(in: 0...86_400)),
        WireMember("acknowledgement", \.acknowledgement, .choice),
        WireMember("metadata", \.metadata, .metadata, default: Metadata()),
        WireMember("rate_limit_bytes_per_second", \.rateLimit, .bytesPerSecond),
        WireMember("minimum_bytes_per_second", \.minimumSpeed, .bytesPerSecond),
        WireMember("tls", \.tls, .tls, default: TLSRule()),
        WireMember("proxy", \.proxy, .proxy),
        WireMember("resume_data_ttl_seconds", \.resumeDataTTL, .seconds(in: 0...315_360_000)),
        WireMember("connections", \.connections, .connections),
        WireMember("max_total_size", \.maxTotalSize, .size),
    ]

    init(reading reader: inout FieldReader) throws(Problem) {
        self.init()
        for member in Self.members { try member.read(&reader, &self) }
    }

    public var request: JSON {
        var object = JSONObject()
        object.add(Self.members, of: self)
        return .object(object)
    }
}

/// A merge patch of the configuration of a session (RFC 7396): a named member replaces the present value, `null` gives it its
/// default, and objects are merged member by member.
struct SessionPatch: Sendable {
    private let members: JSONObject

    init(reading reader: inout FieldReader) {
        members = reader.object
        // A member that the configuration does not have stays unread.
        for member in SessionConfiguration.members { _ = reader.value(member.name) }
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
        for member in SessionConfiguration.members where members[member.name] != nil {
            try member.read(&reader, &patched)
        }
        // The store finds those that are still lost.
        patched.lost = []
        return patched
    }

    /// The objects whose members the client names.
    private static let openMembers: Set = ["headers", "metadata", "pinned_public_keys"]
}

extension WireType<TLSRule> {
    static let tls = object(
        [
            WireMember("ca_file", \.caFile, .text(fault: faultInCertificates)),
            WireMember("pinned_public_keys", \.pinnedPublicKeys, .pins, default: [:]),
            WireMember("verify", \.verify, .bool, default: true),
        ], TLSRule())
}

/// The path of a file with certificates. The file is checked here, because otherwise every transfer would report its errors.
@Sendable private func faultInCertificates(at path: String) -> String? {
    guard path.hasPrefix("/"), !path.utf8.contains(0) else { return "must be an absolute path" }
    // Resolves symbolic links, because the certificate bundle of the system is one.
    let target = URL(filePath: path).resolvingSymlinksInPath().path
    let type = try? FileManager.default.attributesOfItem(atPath: target)[.type] as? FileAttributeType
    // One sentence for every reason: the answer must not tell a client which files exist.
    guard type == .typeRegular, let content = FileManager.default.contents(atPath: path),
        content.range(of: Data("-----BEGIN CERTIFICATE-----".utf8)) != nil
    else { return "must name a file with certificates in PEM form that fetchd can read" }
    return nil
}

extension WireType<[String: [String]]> {
    fileprivate static let pins = Self(
        read: { (reader, name) throws(Problem) in try reader.pins(name) }, write: \.document)
}

extension [String: [String]] {
    var document: JSON {
        .object(sorted { $0.key < $1.key }.reduce(into: JSONObject()) { $0[$1.key] = .strings($1.value) })
    }
}

extension WireType<HostRules> {
    fileprivate static let hostRules = Self(
        read: { (reader, name) throws(Problem) in try reader.hostRules(name) }, write: { .array($0.rules.map(\.json)) })
}

extension WireType<Proxy> {
    fileprivate static let proxy = Self(
        read: { (reader, name) throws(Problem) in try reader.proxy(name) }, write: { .string($0.withCredentials) })
}

extension FieldReader {
    /// The pinned keys by host, at least one key for each host.
    fileprivate mutating func pins(_ name: String) throws(Problem) -> [String: [String]]? {
        guard let object = try value(name, "must be an object: host to keys", \.objectValue) else { return nil }
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

    fileprivate mutating func hostRules(_ name: String) throws(Problem) -> HostRules? {
        guard let list = try value(name, "must be a list of rules", \.arrayValue) else { return nil }
        guard list.count <= HostRules.most else { throw invalid(name, "has more than \(HostRules.most) rules") }
        var rules: [HostRule] = []
        for (index, element) in list.enumerated() {
            do throws(HostRuleFault) {
                rules.append(try HostRule(element))
            } catch {
                let path = ([name, "\(index)"] + [error.member].compactMap(\.self)).map(FieldReader.escaped)
                let pointer = "\(pointer)/\(path.joined(separator: "/"))"
                throw Problem(
                    error.isUnknownMember ? .unknownField : .invalidValue, "\(Self.shown(pointer)) \(error.why).",
                    at: pointer)
            }
        }
        return HostRules(rules)
    }

    fileprivate mutating func proxy(_ name: String) throws(Problem) -> Proxy? {
        try string(
            name,
            "must be http://host:port or socks5://host:port, with user:password@ before the host if the proxy requires credentials",
            Proxy.init)
    }
}

extension Proxy {
    /// The URL with user and password.
    var withCredentials: String {
        guard let username else { return url }
        let user = [username, password].compactMap(\.self).map(Self.encoded).joined(separator: ":")
        return "\(scheme.rawValue)://\(user)@\(host):\(port)"
    }

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
    }
}
