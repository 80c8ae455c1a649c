import Downloads
import Formats
import HTTPSemantics

/// Reads a job from the request of a client. All values are checked here, before anything is stored.
extension JobSpec {
    /// Must be the last read of `reader`.
    init(reading reader: inout FieldReader) throws(Problem) {
        let addresses = try reader.addresses()
        self.init(url: addresses.first ?? "")
        mirrors = Array(addresses.dropFirst())
        method = try reader.choice("method", of: RequestMethod.self) ?? .get
        body = try reader.requestBody(for: method)
        headers = try reader.headers("headers") ?? []
        credentials = try reader.object("credentials", Credentials.init(reading:))
        destination = try reader.object("destination", Destination.init(reading:)) ?? Destination()
        priority = try reader.choice("priority", of: Priority.self)
        connections = try reader.connections("connections")
        expectedSize = try reader.integer("expected_size", in: 0...FieldReader.largestSize)
        maxSize = try reader.integer("max_size", in: 0...FieldReader.largestSize)
        digest = try reader.choice("digest", of: Digest.self)
        decodes = try reader.bool("decode")
        checksum = try reader.object("checksum", Checksum.init(reading:))
        timeouts = try reader.object("timeouts", Timeouts.init(reading:)) ?? Timeouts()
        retry = try reader.object("retry", RetryPolicy.init(reading:))
        waitFor = try reader.choices("wait_for", of: WaitFor.self)
        rateLimit = try reader.bytesPerSecond("rate_limit_bytes_per_second")
        notBefore = try reader.time("not_before")
        deadline = try reader.time("deadline")
        tags = try reader.tags("tags") ?? []
        metadata = try reader.metadata("metadata") ?? Metadata()
        if addresses.isEmpty { throw reader.missing("url", "the address to download") }
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
            connectSeconds: try reader.seconds("connect_seconds", in: 0.1...3600),
            resourceSeconds: try reader.seconds("resource_seconds", in: 0.1...315_360_000))
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

extension FieldReader {
    /// Bytes. File offsets are signed 64-bit numbers, and JSON numbers are exact up to 2^53.
    static let largestSize: Int64 = 1 << 53
}
