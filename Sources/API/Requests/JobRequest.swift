import Downloads
import Formats
import HTTPSemantics

/// All values are checked when a job is read, before anything is stored.
extension JobSpec {
    /// The members of a job, except for its addresses, its method and its body.
    static let members: [WireMember<JobSpec>] = [
        WireMember("headers", \.headers, .headers, default: []),
        WireMember("credentials", \.credentials, .credentials),
        WireMember("destination", \.destination, .destination, default: Destination()),
        WireMember("priority", \.priority, .choice),
        WireMember("connections", \.connections, .connections),
        WireMember("expected_size", \.expectedSize, .size),
        WireMember("max_size", \.maxSize, .size),
        WireMember("digest", \.digest, .choice),
        WireMember("decode", \.decodes, .bool),
        WireMember("checksum", \.checksum, .checksum),
        WireMember("timeouts", \.timeouts, .timeouts, default: Timeouts()),
        WireMember("retry", \.retry, .retry),
        WireMember("wait_for", \.waitFor, .choices()),
        WireMember("rate_limit_bytes_per_second", \.rateLimit, .bytesPerSecond),
        WireMember("not_before", \.notBefore, .time),
        WireMember("deadline", \.deadline, .time),
        WireMember("tags", \.tags, .tags, default: []),
        WireMember("metadata", \.metadata, .metadata, default: Metadata()),
    ]

    /// Must be the last read of `reader`.
    init(reading reader: inout FieldReader) throws(Problem) {
        let addresses = try reader.addresses()
        self.init(url: addresses.first ?? "")
        mirrors = Array(addresses.dropFirst())
        method = try reader.choice("method", of: RequestMethod.self) ?? .get
        body = try reader.requestBody(for: method)
        for member in Self.members { try member.read(&reader, &self) }
        if addresses.isEmpty { throw reader.missing("url", "the address to download") }
    }

    /// The request that creates the job.
    ///
    /// - Parameter session: the session of the job.
    public func request(in session: Name) -> JSON {
        var object = JSONObject()
        if mirrors.isEmpty { object["url"] = .string(url) } else { object["urls"] = .strings([url] + mirrors) }
        object["session"] = .string(session.text)
        if method != .get { object["method"] = .string(method.rawValue) }
        if let (name, value) = body?.member { object[name] = value }
        object.add(Self.members, of: self)
        return .object(object)
    }
}

extension RequestBody {
    fileprivate var member: (name: String, value: JSON) {
        switch self {
        case .text(let text): ("body", .string(text))
        case .form(let fields):
            ("form", .object(fields.reduce(into: JSONObject()) { $0[$1.name] = .string($1.value) }))
        case .json(let text): ("json", (try? JSON(parsing: Array(text.utf8))) ?? .null)
        }
    }
}

extension FieldReader {
    /// Reads `url`, or `urls` with mirrors. Empty if both are absent.
    fileprivate mutating func addresses() throws(Problem) -> [String] {
        let url = try source("url")
        guard let urls = try strings("urls") else { return url.map { [$0] } ?? [] }
        guard url == nil else { throw invalid("urls", "and `url` are both given; one of them is enough") }
        let sources = urls.map(Self.normalized(source:))
        guard (1...16).contains(urls.count), Set(sources).count == urls.count else {
            throw invalid("urls", "must hold 1 to 16 addresses of the same file, each once")
        }
        for (index, url) in urls.enumerated() {
            if let fault = Self.fault(inSource: url) {
                throw Problem(.invalidValue, "`urls.\(index)` \(fault).", at: pointer(to: "urls") + "/\(index)")
            }
        }
        return sources
    }

    /// Reads one of `body`, `form` and `json`, if the method allows a body.
    fileprivate mutating func requestBody(for method: RequestMethod) throws(Problem) -> RequestBody? {
        let bodies: [(name: String, value: RequestBody)] = [
            try string("body").map { ("body", .text($0)) }, try form("form").map { ("form", .form($0)) },
            value("json").map { ("json", .json($0.written)) },
        ].compactMap { $0 }
        guard let first = bodies.first else { return nil }
        guard bodies.count == 1 else {
            throw invalid(bodies[1].name, "and `\(first.name)` are both given; a request has one body")
        }
        guard method != .get else {
            throw invalid(first.name, "requires the method POST, PUT or PATCH")
        }
        return first.value
    }

    private mutating func form(_ name: String) throws(Problem) -> [RequestBody.FormField]? {
        guard let value = value(name) else { return nil }
        guard let object = value.objectValue else { throw invalid(name, "must be an object of strings") }
        var fields: [RequestBody.FormField] = []
        for member in object.members {
            guard let text = member.value.stringValue else {
                throw FieldReader(object, at: pointer(to: name)).invalid(member.name, "must be a string")
            }
            fields.append(RequestBody.FormField(name: member.name, value: text))
        }
        return fields
    }
}

/// Credentials in the request of a client. The API never shows them again.
extension WireType<Credentials> {
    fileprivate static let credentials = Self(
        read: { (reader, name) throws(Problem) in try reader.object(name, Credentials.init(reading:)) },
        write: \.request)
}

extension Credentials {
    private enum Kind: String, CaseIterable { case basic, digest, bearer }

    init(reading reader: inout FieldReader) throws(Problem) {
        let kind = try reader.choice("type", of: Kind.self)
        let username = try reader.credential("username")
        let password = try reader.credential("password")
        let token = try reader.credential("token")
        guard let kind else { throw reader.missing("type", "basic, digest or bearer") }
        switch kind {
        case .basic, .digest:
            if token != nil { throw reader.invalid("token", "is for credentials of type bearer") }
            guard let username else { throw reader.missing("username", "the user name") }
            if kind == .basic, username.contains(":") {
                throw reader.invalid("username", "contains a colon, which basic authentication cannot send")
            }
            self =
                kind == .basic
                ? .basic(username: username, password: password ?? "")
                : .digest(username: username, password: password ?? "")
        case .bearer:
            if username != nil { throw reader.invalid("username", "is not sent with a bearer token") }
            if password != nil { throw reader.invalid("password", "is not sent with a bearer token") }
            guard let token, !token.isEmpty else { throw reader.missing("token", "the bearer token") }
            guard token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw reader.invalid("token", "must be visible ASCII characters")
            }
            self = .bearer(token: token)
        }
    }
}

extension FieldReader {
    fileprivate mutating func credential(_ name: String) throws(Problem) -> String? {
        guard let text = try string(name) else { return nil }
        guard text.utf8.count <= 4096, !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw invalid(name, "contains a control character, or is longer than 4096 bytes")
        }
        return text
    }
}

extension Credentials {
    fileprivate var request: JSON {
        switch self {
        case .basic(let username, let password), .digest(let username, let password):
            ["type": .string(scheme), "username": .string(username), "password": .string(password)]
        case .bearer(let token): ["type": .string(scheme), "token": .string(token)]
        }
    }
}

extension WireType<Checksum> {
    fileprivate static let checksum = Self(
        read: { (reader, name) throws(Problem) in try reader.object(name, Checksum.init(reading:)) },
        write: { ["algorithm": .string($0.algorithm.rawValue), "value": .string($0.value)] })
}

extension Checksum {
    init(reading reader: inout FieldReader) throws(Problem) {
        let (algorithm, text) = (try reader.choice("algorithm", of: Algorithm.self), try reader.string("value"))
        guard let algorithm else { throw reader.missing("algorithm", "what the value was computed with") }
        guard let text else { throw reader.missing("value", "what the file hashes to") }
        guard let checksum = Checksum(algorithm, hexadecimal: text) else {
            throw reader.invalid(
                "value", "must be the \(2 * algorithm.size) hexadecimal digits of a \(algorithm.rawValue)")
        }
        self = checksum
    }
}

/// The body of `POST /v1/jobs/{id}/move`: one place in the queue.
enum QueueMove {
    case place(QueuePosition)
    /// 0 is the top; an index beyond the end is the bottom.
    case position(Int)

    init(reading reader: inout FieldReader) throws(Problem) {
        let moves: [(name: String, move: QueueMove)] = [
            try reader.choice("to", of: End.self).map { ("to", .place($0 == .top ? .top : .bottom)) },
            try reader.string("before").map { ("before", .place(.before(JobID($0)))) },
            try reader.string("after").map { ("after", .place(.after(JobID($0)))) },
            try reader.integer("position", in: 0...Int64(Int32.max)).map { ("position", .position(Int($0))) },
        ].compactMap { $0 }
        guard let first = moves.first else {
            throw reader.missing("to", "top or bottom; or send before, after or position instead")
        }
        guard moves.count == 1 else {
            throw reader.invalid(moves[1].name, "and `\(first.name)` are both given; a job is moved to one place")
        }
        self = first.move
    }

    private enum End: String, CaseIterable { case top, bottom }
}
