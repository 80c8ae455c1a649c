// From the library's view of a request head to ours, refusing what two readers could understand differently.
//
// The library accepts what it should not: both kinds of framing at once, repeated fields that must be unique, names with
// a space before the colon, and it ends strings at a NUL. What happens behind a proxy that reads the same bytes in
// another way is called request smuggling.

import CMicroHTTPD
import HTTPTypes

/// Reads and judges one head.
struct HeadReader {
    private var fields = HTTPFields()
    private var hosts = 0
    private var lengths: [String] = []
    private var encodings: [String] = []
    private var sawInvalidField = false

    /// The head of the request that `handle` is receiving, or the reason to refuse it.
    ///
    /// - Parameter target: nil when the library's version of it is not what was sent.
    static func read(
        _ handle: OpaquePointer, method: String, target: String?, isHTTP11: Bool, from remoteAddress: String
    ) throws(RequestFault) -> (RequestHead, Framing) {
        guard let method = HTTPRequest.Method(method) else { throw .methodInvalid }
        guard let target, !target.isEmpty, target.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else {
            throw .targetInvalid
        }
        var reader = HeadReader()
        withUnsafeMutablePointer(to: &reader) { _ = MHD_get_connection_values_n(handle, .HEADER_KIND, takeField, $0) }
        let framing = try reader.judge(isHTTP11: isHTTP11)
        let head = RequestHead(
            method: method, target: target, headers: reader.fields, remoteAddress: remoteAddress, isHTTP11: isHTTP11)
        return (head, framing)
    }

    fileprivate mutating func add(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
        guard let name = HTTPField.Name(String(decoding: name, as: UTF8.self)) else {
            sawInvalidField = true
            return
        }
        let field = HTTPField(name: name, lenientValue: Self.withoutOuterSpace(value))
        switch name {
        case RequestHead.hostName: hosts += 1
        case .contentLength: lengths.append(field.value)
        case .transferEncoding: encodings.append(field.value)
        default: break
        }
        fields.append(field)
    }

    /// Space around a value is none of it (RFC 9110, section 5.5).
    private static func withoutOuterSpace(_ value: UnsafeBufferPointer<UInt8>) -> Slice<UnsafeBufferPointer<UInt8>> {
        func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        let rest = value.drop(while: isSpace)
        return rest.prefix((rest.lastIndex { !isSpace($0) }).map { $0 - rest.startIndex + 1 } ?? 0)
    }

    private func judge(isHTTP11: Bool) throws(RequestFault) -> Framing {
        if sawInvalidField { throw .fieldInvalid }
        if hosts > 1 { throw .hostRepeated }
        if hosts == 0 && isHTTP11 { throw .hostMissing }
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
