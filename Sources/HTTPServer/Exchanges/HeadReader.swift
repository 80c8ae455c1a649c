// Reads the head of a request, and refuses heads that two readers could understand differently.
//
// The library accepts invalid heads: both kinds of framing together, repeated fields that must be unique, and names
// with a space before the colon. It also ends strings at a NUL, joins folded lines, and ends lines at a bare LF or CR. If
// a proxy reads the same bytes differently, an attacker can hide a request in them (request smuggling).

import CMicroHTTPD
import HTTPTypes

/// Collects the fields of a head and validates them.
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
        guard let target, line.confirms(target), let form = RequestTarget(target, method) else {
            throw .targetInvalid
        }
        let size = mhd_connection_head_size(handle)
        var reader = HeadReader(line)
        reader.fields.reserve(bytes: size, fields: 8)
        withUnsafeMutablePointer(to: &reader) { _ = MHD_get_connection_values_n(handle, .HEADER_KIND, takeField, $0) }
        if reader.sawInvalidLine || reader.nextLine + 2 != line.start + size { throw .lineInvalid }
        let framing = try reader.judge(isHTTP11: line.isHTTP11, maxFields: maxFields)
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
        guard !name.isEmpty, name.allSatisfy(Self.isTokenCharacter) else {
            sawInvalidField = true
            return
        }
        fields.append(name: name, value: Self.withoutOuterSpace(value))
    }

    /// RFC 9110, section 5.6.2.
    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    /// White space around a value is not part of it (RFC 9110, section 5.5).
    private static func withoutOuterSpace(_ value: UnsafeBufferPointer<UInt8>) -> Slice<UnsafeBufferPointer<UInt8>> {
        func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        let rest = value.drop(while: isSpace)
        return rest.prefix((rest.lastIndex { !isSpace($0) }).map { $0 - rest.startIndex + 1 } ?? 0)
    }

    private func judge(isHTTP11: Bool, maxFields: Int) throws(RequestFault) -> Framing {
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
        guard lengths.count == 1, length.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
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
