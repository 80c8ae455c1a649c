import CZlib

/// Decodes a body while it arrives, with zlib. Use it from one thread at a time.
public final class InflatingDecoder {
    private let coding: ContentCoding
    private var stream = z_stream()
    private var state = State.beginning
    /// The first byte, until the second one shows the format.
    private var held: [UInt8] = []
    private var output = [UInt8](repeating: 0, count: outputSize)

    private static let outputSize = 128 * 1024

    private enum State {
        case beginning
        case inflating
        /// A gzip body can have several members, one after the other (RFC 1952, section 2.2).
        case betweenMembers
        /// Further bytes are ignored, as browsers do.
        case ended
    }

    public init(_ coding: ContentCoding) { self.coding = coding }

    deinit { if state != .beginning { inflateEnd(&stream) } }

    /// Decodes the next bytes, and passes the result on in pieces of at most 128 KiB.
    ///
    /// - Parameter take: returns false to stop. The decoder cannot be used afterwards.
    public func decode(
        _ bytes: UnsafeRawBufferPointer, _ take: (UnsafeRawBufferPointer) -> Bool
    ) throws(InflationError) {
        guard state == .beginning else { return try inflate(bytes, take) }
        let first = held + bytes
        guard first.count > 1 else {
            held = first
            return
        }
        try begin(first)
        let result = first.withUnsafeBytes { bytes in
            Result { () throws(InflationError) in try inflate(bytes, take) }
        }
        try result.get()
    }

    /// Called after the last byte. An empty body is taken for an empty file, because some servers code it that way.
    public func finish() throws(InflationError) {
        switch state {
        case .beginning where held.isEmpty, .betweenMembers, .ended: break
        case .beginning, .inflating: throw .incomplete
        }
    }

    private func begin(_ first: [UInt8]) throws(InflationError) {
        let largestWindow: Int32 = 15
        let bits: Int32 =
            switch coding {
            case .gzip: largestWindow + 16
            case .deflate: Self.isZlib(first) ? largestWindow : -largestWindow
            }
        guard czlib_inflate_init(&stream, bits) == Z_OK else { throw .invalid("zlib has no memory") }
        state = .inflating
    }

    /// The header of RFC 1950, section 2.2: the method is 8, and the two bytes are a multiple of 31.
    private static func isZlib(_ first: [UInt8]) -> Bool {
        first[0] & 0x0F == 8 && (Int(first[0]) << 8 + Int(first[1])) % 31 == 0
    }

    private func inflate(
        _ bytes: UnsafeRawBufferPointer, _ take: (UnsafeRawBufferPointer) -> Bool
    ) throws(InflationError) {
        var rest = bytes
        var isFull = false
        // A full output may have more behind it, although the input is used up.
        while !rest.isEmpty || isFull {
            if state == .betweenMembers, let next = rest.first { resume(with: next) }
            guard state == .inflating else { return }
            // zlib counts in 32 bits.
            let (code, used, made) = inflateOnce(rest.prefix(1 << 30))
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(used))
            isFull = made == Self.outputSize
            let isTaken = output.withUnsafeBytes { made == 0 || take(UnsafeRawBufferPointer(rebasing: $0[..<made])) }
            guard isTaken else {
                state = .ended
                return
            }
            try note(code)
        }
    }

    private func note(_ code: Int32) throws(InflationError) {
        switch code {
        case Z_OK, Z_BUF_ERROR: break
        case Z_STREAM_END: state = .betweenMembers
        default: throw .invalid(stream.msg.map { String(cString: $0) } ?? "zlib error \(code)")
        }
    }

    /// - Parameter byte: the first one after a member.
    private func resume(with byte: UInt8) {
        let firstOfMember: UInt8 = 0x1F
        state = coding == .gzip && byte == firstOfMember && inflateReset(&stream) == Z_OK ? .inflating : .ended
    }

    private func inflateOnce(_ input: Slice<UnsafeRawBufferPointer>) -> (code: Int32, used: Int, made: Int) {
        let input = UnsafeRawBufferPointer(rebasing: input)
        return output.withUnsafeMutableBufferPointer { output in
            stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self))
            stream.avail_in = UInt32(input.count)
            stream.next_out = output.baseAddress
            stream.avail_out = UInt32(output.count)
            let code = CZlib.inflate(&stream, Z_NO_FLUSH)
            return (code, input.count - Int(stream.avail_in), output.count - Int(stream.avail_out))
        }
    }
}

/// A content coding that can be decoded (RFC 9110, section 8.4.1).
public enum ContentCoding: Sendable, Equatable, CaseIterable {
    /// RFC 1952.
    case gzip
    /// The zlib format (RFC 1950), or, as some servers send it, the bare format of RFC 1951.
    case deflate

    /// - Parameter name: in any case. `x-gzip` is another name of `gzip`. nil if it cannot be decoded.
    public init?(_ name: String) {
        switch name.lowercased() {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        default: return nil
        }
    }
}

/// Why bytes cannot be decoded.
public enum InflationError: Error, Sendable, Equatable {
    /// The bytes are not of the coding, or are damaged. The text is zlib's.
    case invalid(String)
    /// The coded bytes end too early.
    case incomplete
}

extension ContentCoding {
    /// One member of gzip (RFC 1952).
    ///
    /// - Parameter level: 1, the fastest, to 9, the smallest.
    /// - Returns: nil if memory runs out.
    public static func gzipped(_ bytes: [UInt8], level: Int32) -> [UInt8]? {
        var stream = z_stream()
        let (largestWindow, asGzip): (Int32, Int32) = (15, 16)
        guard czlib_deflate_init(&stream, level, largestWindow + asGzip) == Z_OK else { return nil }
        defer { deflateEnd(&stream) }
        // With so much room, one call is enough.
        let room = Int(deflateBound(&stream, UInt(bytes.count)))
        return bytes.withUnsafeBufferPointer { input in
            [UInt8](unsafeUninitializedCapacity: room) { output, count in
                stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(room)
                count = CZlib.deflate(&stream, Z_FINISH) == Z_STREAM_END ? room - Int(stream.avail_out) : 0
            }
        }
    }
}
