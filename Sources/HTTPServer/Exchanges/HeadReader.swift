// Reads the head of a request, and refuses heads that two readers could understand differently.
//
// The library accepts invalid heads: both kinds of framing together, repeated fields that must be unique, and names
// with a space before the colon. It also ends strings at a NUL. If a proxy reads the same bytes differently, an
// attacker can hide a request in them (request smuggling).

import CMicroHTTPD
import HTTPTypes

/// Collects the fields of a head and validates them.
struct HeadReader {
    private var fields = RequestFields()
    private var sawInvalidField = false

    /// Reads the head of the request that `handle` receives.
    ///
    /// - Parameter target: nil if the target that the library has is not complete.
    /// - Throws: the reason to refuse the request.
    static func read(
        _ handle: OpaquePointer, method: String, target: String?, isHTTP11: Bool, from remoteAddress: String
    ) throws(RequestFault) -> (RequestHead, Framing) {
        guard let method = HTTPRequest.Method(method) else { throw .methodInvalid }
        guard let target, !target.isEmpty, target.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else {
            throw .targetInvalid
        }
        var reader = HeadReader()
        reader.fields.reserve(bytes: mhd_connection_head_size(handle), fields: 8)
        withUnsafeMutablePointer(to: &reader) { _ = MHD_get_connection_values_n(handle, .HEADER_KIND, takeField, $0) }
        let framing = try reader.judge(isHTTP11: isHTTP11)
        let head = RequestHead(
            method: method, target: target, headers: reader.fields, remoteAddress: remoteAddress, isHTTP11: isHTTP11)
        return (head, framing)
    }

    fileprivate mutating func add(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
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

    private func judge(isHTTP11: Bool) throws(RequestFault) -> Framing {
        if sawInvalidField { throw .fieldInvalid }
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
