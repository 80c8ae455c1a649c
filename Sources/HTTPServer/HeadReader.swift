import CMicroHTTPD
import Formats
import Glibc
import HTTPTypes

// Reads the head of a request, and refuses heads that two readers could understand differently.
//
// The library accepts invalid heads: both kinds of framing together, repeated fields that must be unique, and names
// with a space before the colon. It also ends strings at a NUL, joins folded lines, and ends lines at a bare LF or CR. If
// a proxy reads the same bytes differently, an attacker can hide a request in them (request smuggling).

struct HeadReader {
    private var fields = RequestFields()
    private var sawInvalidField = false
    /// Where the next line must begin, if all lines before it ended with CRLF and had no NUL. The library replaces the
    /// bytes that end a line, and leaves all others in its buffer, except those of folded lines.
    private var nextLine: UnsafeRawPointer
    private var sawInvalidLine = false

    private init(_ line: RequestLine) { nextLine = line.end }

    /// Reads the head of the request that `handle` receives.
    ///
    /// - Parameter target: nil if it is not UTF-8.
    /// - Throws: the reason to refuse the request.
    static func read(
        _ handle: OpaquePointer, line: RequestLine, target: String?, from remoteAddress: String, maxFields: Int
    ) throws(RequestFault) -> (RequestHead, Framing) {
        guard let method = HTTPRequest.Method(line.method) else { throw .methodInvalid }
        guard let target, line.confirms(target), let form = RequestTarget(target, method) else { throw .targetInvalid }
        let size = mhd_connection_head_size(handle)
        var reader = HeadReader(line)
        reader.fields.reserve(bytes: size, fields: 8)
        withUnsafeMutablePointer(to: &reader) { _ = MHD_get_connection_values_n(handle, .HEADER_KIND, takeField, $0) }
        if reader.sawInvalidLine || reader.nextLine + 2 != line.start + size { throw .lineInvalid }
        let framing = try reader.framing(isHTTP11: line.isHTTP11, maxFields: maxFields)
        if let authority = form.authority { reader.fields[RequestHead.hostName] = authority }
        let head = RequestHead(
            method: method, target: form.local, headers: reader.fields, remoteAddress: remoteAddress,
            isHTTP11: line.isHTTP11)
        return (head, framing)
    }

    fileprivate mutating func add(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
        if let start = name.baseAddress, let last = value.baseAddress, UnsafeRawPointer(start) == nextLine {
            nextLine = UnsafeRawPointer(last) + value.count + 2
            if value.contains(UInt8(ascii: "\r")) { sawInvalidLine = true }
        } else {
            sawInvalidLine = true
        }
        guard !name.isEmpty, name.allSatisfy(\.isHTTPTokenCharacter) else {
            sawInvalidField = true
            return
        }
        // White space around a value is not part of it (RFC 9110, section 5.5).
        fields.append(name: name, value: value.trimming(\.isHTTPSpace))
    }

    private func framing(isHTTP11: Bool, maxFields: Int) throws(RequestFault) -> Framing {
        if sawInvalidField { throw .fieldInvalid }
        if fields.count > maxFields { throw .tooManyFields(limit: maxFields) }
        let hosts = fields.count(of: RequestHead.hostName)
        if hosts > 1 { throw .hostRepeated }
        if hosts == 0 && isHTTP11 { throw .hostMissing }
        let (lengths, encodings) = (fields[values: .contentLength], fields[values: .transferEncoding])
        if !encodings.isEmpty && !lengths.isEmpty { throw .framingAmbiguous }
        if let encoding = encodings.first {
            guard encodings.count == 1, isHTTP11, encoding.lowercased() == "chunked" else {
                throw .transferEncodingUnsupported
            }
            return .chunked
        }
        guard let length = lengths.first else { return .none }
        guard lengths.count == 1, length.utf8.allSatisfy(\.isASCIIDigit),
            let count = Int(length)
        else { throw .contentLengthInvalid }
        return .length(count)
    }
}

private func takeField(
    reader: UnsafeMutableRawPointer?, kind: MHD_ValueKind, name: UnsafePointer<CChar>?, nameSize: Int,
    value: UnsafePointer<CChar>?, valueSize: Int
) -> MHD_Result {
    let bytes = { (start: UnsafePointer<CChar>?, count: Int) in
        UnsafeBufferPointer(start: UnsafeRawPointer(start)?.assumingMemoryBound(to: UInt8.self), count: count)
    }
    reader?.assumingMemoryBound(to: HeadReader.self).pointee
        .add(name: bytes(name, nameSize), value: bytes(value, value == nil ? 0 : valueSize))
    return .YES
}

struct RequestLine {
    private let url: UnsafePointer<CChar>
    private let methodText: UnsafePointer<CChar>
    private let version: UnsafePointer<CChar>

    init?(url: UnsafePointer<CChar>?, method: UnsafePointer<CChar>?, version: UnsafePointer<CChar>?) {
        guard let url, let method, let version else { return nil }
        self.url = url
        methodText = method
        self.version = version
    }

    var method: String { String(cString: methodText) }

    var isHTTP11: Bool { strcmp(version, "HTTP/1.0") != 0 }

    /// Whether the line is exactly a method, a space, this target, a space and a version. The library ends a string at a
    /// NUL, and accepts several spaces. All three lie in the same buffer, so that any other byte leaves a gap.
    func confirms(_ target: String) -> Bool {
        methodText + strlen(methodText) + 1 == url && url + target.utf8.count + 1 == version
    }

    /// The first byte of the head, in the buffer of the connection.
    var start: UnsafeRawPointer { UnsafeRawPointer(methodText) }

    /// The first byte after the line, if the line ends with CRLF.
    var end: UnsafeRawPointer { UnsafeRawPointer(version + strlen(version) + 2) }
}

/// The target of a request line, in one of the forms of RFC 9112, section 3.2.
struct RequestTarget: Equatable {
    /// The path with its query, or `*`.
    let local: String
    /// The host and port of a target in absolute form. They replace the `Host` field (section 3.2.2).
    let authority: String?

    /// nil if the target has none of the forms, or contains a space or a control character. `CONNECT` has a form of its own,
    /// which only proxies need.
    init?(_ text: String, _ method: HTTPRequest.Method) {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }), method != .connect else { return nil }
        if text.utf8.first == UInt8(ascii: "/") || (text == "*" && method == .options) {
            local = text
            authority = nil
            return
        }
        guard let scheme = ["http://", "https://"].first(where: { text.lowercased().hasPrefix($0) }) else { return nil }
        let rest = text.utf8.dropFirst(scheme.utf8.count)
        let host = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        guard !host.isEmpty else { return nil }
        let path = rest.dropFirst(host.count)
        let slash = path.first == UInt8(ascii: "/") ? "" : "/"
        local = slash + String(Substring(path))
        authority = String(Substring(host))
    }
}

enum Framing: Equatable {
    case none
    case length(Int)
    case chunked

    var hasBody: Bool { self != .none && self != .length(0) }
}
