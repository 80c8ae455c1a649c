import Downloads
import Formats
import Foundation
import HTTPSemantics
import Lists

/// All values are checked when a job is read, before anything is stored.
extension JobSpec {
    /// The members of a job, except for its addresses, its method and its body.
    static let members: [WireMember<JobSpec>] = [
        WireMember("mirrors", \.mirrorPolicy, .choice),
        WireMember("headers", \.headers, .headers, default: []),
        WireMember("credentials", \.credentials, .credentials),
        WireMember("destination", \.destination, .destination, default: Destination()),
        WireMember("priority", \.priority, .choice),
        WireMember("connections", \.connections, .connections),
        WireMember("expected_size", \.expectedSize, .size),
        WireMember("max_size", \.maxSize, .size),
        WireMember("digest", \.digest, .choice),
        WireMember("decode", \.decodes, .bool),
        WireMember("resume_policy", \.resumePolicy, .choice),
        WireMember("checksum", \.checksum, .checksum),
        WireMember("pieces", \.pieces, .pieces),
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
        try reader.expandMetalink()
        let addresses = try reader.addresses()
        self.init(url: addresses.first ?? "")
        mirrors = Array(addresses.dropFirst())
        method = try reader.choice("method", of: RequestMethod.self) ?? .get
        body = try reader.requestBody(for: method)
        for member in Self.members { try member.read(&reader, &self) }
        if addresses.isEmpty { throw reader.missing("url", "the address to download") }
        try reader.requireName(ofListed: self)
    }

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

    /// `metalink` is a document of one file. It takes the place of the addresses, and says what the request leaves out.
    fileprivate mutating func expandMetalink() throws(Problem) {
        guard
            let text = try string(
                "metalink", fault: { $0.unicodeScalars.count > 262_144 ? "has more than 262144 characters" : nil })
        else { return }
        for name in ["url", "urls"] where value(name) != nil {
            throw invalid("metalink", "and `\(name)` are both given; one of them is enough")
        }
        var list = ListReader(.metalink)
        let entries = list.read(Array(text.utf8)) + list.finish()
        guard let entry = entries.first, entries.count == 1 else {
            throw invalid("metalink", "must name one file, not \(entries.count): POST /v1/jobs/import takes several")
        }
        switch entry.job {
        case .success(let job): add(job)
        case .failure(let fault):
            throw invalid(
                "metalink",
                "cannot be used: \(fault.reason.hasSuffix(".") ? String(fault.reason.dropLast()) : fault.reason)")
        }
    }

    /// Reads one of `body`, `form` and `json`, if the method allows a body.
    fileprivate mutating func requestBody(for method: RequestMethod) throws(Problem) -> RequestBody? {
        let bodies: [(name: String, value: RequestBody)?] = [
            try string("body").map { ("body", .text($0)) }, try form("form").map { ("form", .form($0)) },
            value("json").map { ("json", .json($0.written)) },
        ]
        guard let (name, body) = try only(bodies, "a request has one body") else { return nil }
        guard method != .get else { throw invalid(name, "requires the method POST, PUT or PATCH") }
        return body
    }

    private mutating func form(_ name: String) throws(Problem) -> [RequestBody.FormField]? {
        guard let object = try value(name, "must be an object of strings", \.objectValue) else { return nil }
        return try object.members.map { member throws(Problem) in
            guard let text = member.value.stringValue else {
                throw FieldReader(object, at: pointer(to: name)).invalid(member.name, "must be a string")
            }
            return RequestBody.FormField(name: member.name, value: text)
        }
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
            let make = kind == .basic ? Credentials.basic : Credentials.digest
            self = make(username, password ?? "")
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
        try string(name) { text in
            text.utf8.count <= 4096 && !text.utf8.contains { $0 < 0x20 || $0 == 0x7F }
                ? nil : "contains a control character, or is longer than 4096 bytes"
        }
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

extension WireType<ExpectedChecksum> {
    fileprivate static let checksum = Self(
        read: { (reader, name) throws(Problem) in try reader.object(name, ExpectedChecksum.init(reading:)) },
        write: \.request)
}

extension ExpectedChecksum {
    init(reading reader: inout FieldReader) throws(Problem) {
        guard let url = try reader.checksumAddress() else {
            for name in ["file", "signature"] where reader.value(name) != nil {
                throw reader.invalid(name, "needs `url`, the address of a list of digests")
            }
            self = .value(try Checksum(reading: &reader))
            return
        }
        for name in ["algorithm", "value"] where reader.value(name) != nil {
            throw reader.invalid("url", "and `\(name)` are both given: the list has the digest and its algorithm")
        }
        let file = try reader.string("file") { text in
            (1...1024).contains(text.unicodeScalars.count) && !text.utf8.contains(0)
                ? nil : "must have 1 to 1024 characters, and no NUL"
        }
        self = .file(
            ChecksumFile(
                url: url, file: file,
                signature: try reader.object("signature", ChecksumSignature.init(reading:))))
    }

    fileprivate var request: JSON {
        switch self {
        case .value(let checksum):
            return ["algorithm": .string(checksum.algorithm.rawValue), "value": .string(checksum.value)]
        case .file(let file):
            let signature: JSON? = file.signature.map {
                ["type": .string($0.kind.rawValue), "url": .string($0.url), "keys": .strings($0.keys)]
            }
            return ["url": .string(file.url), "file": .optional(file.file), "signature": signature ?? .null]
        }
    }
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

extension WireType<PieceDigests> {
    fileprivate static let pieces = Self(
        read: { (reader, name) throws(Problem) in try reader.object(name, PieceDigests.init(reading:)) },
        write: {
            [
                "algorithm": .string($0.algorithm.rawValue), "length": .integer($0.length),
                "digests": .string($0.digests.base64EncodedString()),
            ]
        })
}

extension PieceDigests {
    init(reading reader: inout FieldReader) throws(Problem) {
        let algorithm = try reader.choice("algorithm", of: Checksum.Algorithm.self)
        let length = try reader.integer("length", in: 1...1 << 40)
        let text = try reader.string("digests")
        guard let algorithm else { throw reader.missing("algorithm", "what the digests were computed with") }
        guard let length else { throw reader.missing("length", "the size of a piece in bytes") }
        guard let text else { throw reader.missing("digests", "those of the pieces, one after another, in base64") }
        guard let digests = Data(base64Encoded: text),
            let pieces = PieceDigests(algorithm, length: length, digests: digests)
        else {
            throw reader.invalid(
                "digests",
                "must be the base64 of 1 to \(Self.most) digests of \(algorithm.size) bytes each, one after another")
        }
        self = pieces
    }
}

extension ChecksumSignature {
    init(reading reader: inout FieldReader) throws(Problem) {
        let (kind, url) = (try reader.choice("type", of: Kind.self), try reader.checksumAddress())
        let keys = try reader.strings("keys")
        guard let kind else { throw reader.missing("type", "minisign or signify") }
        guard let url else { throw reader.missing("url", "the address of the signature of the list") }
        guard let keys else { throw reader.missing("keys", "the public keys") }
        guard (1...Self.mostKeys).contains(keys.count), Set(keys).count == keys.count else {
            throw reader.invalid("keys", "must hold 1 to \(Self.mostKeys) public keys, each once")
        }
        for (index, key) in keys.enumerated() where SignatureKey(base64: key) == nil {
            throw Problem(
                .invalidValue,
                "`keys.\(index)` is no public key of minisign or signify: it is the line of 56 characters that begins with RW.",
                at: reader.pointer(to: "keys") + "/\(index)")
        }
        self.init(kind: kind, url: url, keys: keys)
    }
}

extension FieldReader {
    fileprivate mutating func checksumAddress() throws(Problem) -> String? {
        let url = try source("url")
        guard let url, URLRule.withoutCredentials(url) != url else { return url }
        throw invalid("url", "has a user name; the job's `credentials` are sent to the origin of its own URL")
    }

    /// A list is searched for a name, which a URL such as `https://example.org/` does not have.
    fileprivate func requireName(ofListed spec: JobSpec) throws(Problem) {
        guard let file = spec.checksum?.file, file.file == nil, (spec.url.lastURLComponent ?? "").isEmpty else {
            return
        }
        throw Problem(
            .invalidValue, "`checksum.file` is missing: the URL has no file name to look for in the list.",
            at: pointer(to: "checksum") + "/file")
    }
}

/// The body of `POST /v1/jobs/{id}/move`: one place in the queue.
extension QueueTarget {
    init(reading reader: inout FieldReader) throws(Problem) {
        let targets: [(name: String, value: QueueTarget)?] = [
            try reader.choice("to", of: End.self).map { ("to", .place($0 == .top ? .top : .bottom)) },
            try reader.string("before").map { ("before", .place(.before(JobID($0)))) },
            try reader.string("after").map { ("after", .place(.after(JobID($0)))) },
            try reader.integer("position", in: 0...Int64(Int32.max)).map { ("position", .index(Int($0))) },
        ]
        guard let target = try reader.only(targets, "a job is moved to one place") else {
            throw reader.missing("to", "top or bottom; or send before, after or position instead")
        }
        self = target.value
    }

    private enum End: String, CaseIterable { case top, bottom }
}

/// A merge patch of a job (RFC 7396): a named member replaces the present value, `null` removes the value, and objects
/// are merged member by member.
struct JobPatch: Sendable {
    let fields: Set<PatchableField>
    private let members: JSONObject

    init(reading reader: inout FieldReader) throws(Problem) {
        members = reader.object
        fields = Set(PatchableField.allCases.filter { reader.object[$0.rawValue] != nil })
        for field in PatchableField.allCases { _ = reader.value(field.rawValue) }
        if reader.object["url"] == .null { throw reader.invalid("url", "cannot be removed") }
    }

    /// - Throws: 422 when a resulting value is not allowed.
    func applied(to spec: JobSpec) throws(Problem) -> JobSpec {
        let present = spec.patchable(members["headers"]?.objectValue ?? [:])
        var reader = FieldReader(present.merged(with: members, openMembers: Self.openFields))
        var patched = spec
        if fields.contains(.url) {
            let given = try reader.source("url") ?? patched.url
            patched.url = patched.url(shownAs: given) ?? given
            (patched.mirrors, patched.discovery) = ([], nil)
        }
        let names = fields.map(\.rawValue)
        for member in JobSpec.members where names.contains(member.name) { try member.read(&reader, &patched) }
        patched.endLoss(supplied: fields)
        return patched
    }

    private static let openFields: Set = ["headers", "metadata"]
}

extension JobSpec {
    /// The fields whose own members are merged. All other fields are replaced as a whole.
    fileprivate func patchable(_ patched: JSONObject) -> JSONObject {
        [
            "headers": headers.spelled(asIn: patched).request,
            "metadata": metadata.parsed, "destination": destination.document,
        ]
    }
}

extension [HeaderField] {
    /// The headers with the names as a patch spells them, because the case may differ.
    func spelled(asIn patch: JSONObject) -> [HeaderField] {
        map { header in
            let name = patch.names.first { $0.lowercased() == header.name.lowercased() }
            return HeaderField(name: name ?? header.name, value: header.value)
        }
    }
}

extension JSONObject {
    /// Merges objects by RFC 7396, section 2.
    /// - Parameters:
    ///   - openMembers: the names of objects whose members the client names.
    ///   - isOpen: whether this is such an object, or in one. Then `null` is accepted for a member that does not exist. If not,
    ///     the null stays in the result, and the reader of the result checks whether such a member is allowed.
    func merged(with patch: JSONObject, openMembers: Set<String>, isOpen: Bool = false) -> JSONObject {
        var merged = self
        for (name, value) in patch.members {
            switch value {
            case .null where isOpen || merged[name] != nil: merged[name] = nil
            case .object(let members):
                let present = merged[name]?.objectValue ?? [:]
                let isOpen = isOpen || openMembers.contains(name)
                merged[name] = .object(present.merged(with: members, openMembers: openMembers, isOpen: isOpen))
            default: merged[name] = value
            }
        }
        return merged
    }
}
