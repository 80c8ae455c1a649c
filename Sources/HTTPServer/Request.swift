import Formats
import Glibc
import HTTPTypes

public struct Request: Sendable, Hashable {
    public var head: RequestHead
    /// The body without transfer encoding; empty if there is none.
    public var body: [UInt8] = []

    public init(head: RequestHead, body: [UInt8] = []) {
        self.head = head
        self.body = body
    }
}

public struct RequestHead: Sendable, Hashable {
    public var method: HTTPRequest.Method
    /// The request target as it was sent: percent-encoded, with its query. Of a target in absolute form, only the path
    /// and the query; its host is the value of `Host`. `*` for a request about the server itself (OPTIONS).
    public var target: String
    public var headers: RequestFields = [:]
    /// The IP address of the client without the port. An IPv4 client of an IPv6 socket appears as IPv4. The address of a
    /// client of a Unix domain socket is `unixAddress`.
    public var remoteAddress = "127.0.0.1"
    /// The address of the client for whom a trusted proxy has sent the request, if the handler knows it.
    public var forwardedAddress: String?
    /// False for HTTP/1.0, which has neither chunked responses nor a mandatory `Host`.
    public var isHTTP11 = true

    public static let unixAddress = "unix"

    static func remoteAddress(_ address: UnsafePointer<sockaddr>?) -> String {
        guard let address else { return "unknown" }
        if Int32(address.pointee.sa_family) == AF_UNIX { return unixAddress }
        return IPAddress(address)?.description ?? "unknown"
    }

    /// The address of the client as far as it is known: without a trusted proxy, that of the connection.
    public var clientAddress: String { forwardedAddress ?? remoteAddress }

    /// Whether the client runs on the same machine, or an unknown client behind a proxy that does.
    public var isFromThisMachine: Bool { Self.isLocal(remoteAddress) && forwardedAddress.map(Self.isLocal) ?? true }

    private static func isLocal(_ address: String) -> Bool {
        address.hasPrefix("127.") || address == "::1" || address == unixAddress
    }

    /// The `Host` field. It is never nil in an HTTP/1.1 request that reaches a handler.
    public var host: String? { headers[Self.hostName] }

    /// HTTPTypes uses its own constant for the authority of HTTP/2.
    static let hostName = HTTPField.Name("Host")!

    /// The target up to its first `?`, still percent-encoded.
    public var path: String {
        guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return target }
        return String(target[..<mark])
    }

    /// The part of the target after its first `?`, still percent-encoded; nil without a `?`.
    public var query: String? {
        guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return nil }
        return String(target[target.utf8.index(after: mark)...])
    }
}

/// The header fields of a request, in the order in which they were sent.
///
/// The bytes of all fields are in one array. A value becomes a string when a handler asks for it, because most fields
/// of a request are never read.
public struct RequestFields: Sendable, Hashable {
    /// The positions of one field in `bytes`. Its value ends where the next field begins.
    private struct Field: Sendable, Hashable {
        var start: Int32
        var nameEnd: Int32
        var end: Int32
    }

    private var bytes: [UInt8] = []
    private var fields: [Field] = []

    public init() {}

    /// The value of a field; several values are joined by a comma (RFC 9110, section 5.3). nil if the field is missing.
    public subscript(name: HTTPField.Name) -> String? {
        get {
            var joined: String?
            for index in fields.indices where has(fields[index], name) {
                let value = string(fields[index].nameEnd, fields[index].end)
                joined = joined.map { $0 + (name == .cookie ? "; " : ", ") + value } ?? value
            }
            return joined
        }
        set {
            remove(name)
            if let newValue { append(name: Array(name.rawName.utf8), value: Array(newValue.utf8)) }
        }
    }

    /// The values of all fields with this name.
    public subscript(values name: HTTPField.Name) -> [String] {
        fields.filter { has($0, name) }.map { string($0.nameEnd, $0.end) }
    }

    var count: Int { fields.count }

    func count(of name: HTTPField.Name) -> Int { fields.count { has($0, name) } }

    public func contains(_ name: HTTPField.Name) -> Bool { fields.contains { has($0, name) } }

    /// NUL, CR and LF in the value become spaces, because a handler may copy the value to where they end something.
    mutating func append(name: some Collection<UInt8>, value: some Collection<UInt8>) {
        let start = bytes.count
        bytes.append(contentsOf: name)
        let nameEnd = bytes.count
        bytes.append(contentsOf: value)
        for index in nameEnd..<bytes.count where Self.endsText(bytes[index]) { bytes[index] = UInt8(ascii: " ") }
        fields.append(Field(start: Int32(start), nameEnd: Int32(nameEnd), end: Int32(bytes.count)))
    }

    mutating func reserve(bytes: Int, fields: Int) {
        self.bytes.reserveCapacity(bytes)
        self.fields.reserveCapacity(fields)
    }

    private mutating func remove(_ name: HTTPField.Name) {
        var rest = RequestFields()
        for field in fields where !has(field, name) {
            rest.append(
                name: bytes[Int(field.start)..<Int(field.nameEnd)], value: bytes[Int(field.nameEnd)..<Int(field.end)])
        }
        self = rest
    }

    private func has(_ field: Field, _ name: HTTPField.Name) -> Bool {
        let expected = name.canonicalName.utf8
        guard Int(field.nameEnd - field.start) == expected.count else { return false }
        var index = Int(field.start)
        for byte in expected {
            guard bytes[index].asciiLowercased == byte else { return false }
            index += 1
        }
        return true
    }

    private static func endsText(_ byte: UInt8) -> Bool { byte == 0 || byte == 10 || byte == 13 }

    private func string(_ start: Int32, _ end: Int32) -> String {
        String(decoding: bytes[Int(start)..<Int(end)], as: UTF8.self)
    }
}

extension RequestFields: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (HTTPField.Name, String)...) {
        self.init()
        for (name, value) in elements { append(name: Array(name.rawName.utf8), value: Array(value.utf8)) }
    }
}
