/// Reads the frames of a client, in any division of the bytes (RFC 6455, section 5). A pure state machine; its memory is
/// bounded by the largest message.
///
/// It refuses everything that a client must not send: frames without a mask, reserved bits and opcodes, lengths that are not
/// in their shortest form, control frames that are long or fragmented, and messages that are larger than the limit, before
/// their bytes have arrived.
public struct WebSocketDecoder: Sendable {
    public enum Event: Sendable, Equatable {
        case text([UInt8])
        case ping([UInt8])
        case pong
        case close(UInt16?)
    }

    private struct Frame {
        let opcode: UInt8
        let isFinal: Bool
        let mask: [UInt8]
        /// The number of bytes of the payload that have arrived, and the number that is missing.
        var received = 0
        var left: Int
    }

    private let limit: Int
    /// The beginning of a frame until its payload; at most 14 bytes.
    private var head: [UInt8] = []
    private var frame: Frame?
    private var control: [UInt8] = []
    /// The text message so far; nil between messages.
    private var message: [UInt8]?
    private var isClosed = false

    public init(limit: Int) { self.limit = limit }

    public var heldBytes: Int { message?.count ?? 0 }

    /// Reads bytes, and appends what they complete. After a fault or a close, call it no more.
    public mutating func take(_ bytes: ArraySlice<UInt8>, _ events: inout [Event]) throws(WebSocketFault) {
        var rest = bytes
        while !isClosed {
            if frame != nil {
                takePayload(&rest)
                guard frame?.left == 0 else { return }
                try endFrame(&events)
            } else {
                guard let byte = rest.popFirst() else { return }
                head.append(byte)
                frame = try parsedHead()
                if frame != nil { head.removeAll(keepingCapacity: false) }
            }
        }
    }

    // MARK: Heads

    private func parsedHead() throws(WebSocketFault) -> Frame? {
        let (opcode, isFinal) = (head[0] & 0x0F, head[0] & 0x80 != 0)
        guard head[0] & 0x70 == 0 else { throw .protocolError }
        try check(opcode, isFinal)
        guard head.count >= 2 else { return nil }
        guard head[1] & 0x80 != 0 else { throw .protocolError }
        let short = Int(head[1] & 0x7F)
        guard opcode < 0x8 || short <= 125 else { throw .protocolError }
        let extended = short == 126 ? 2 : short == 127 ? 8 : 0
        guard head.count >= 2 + extended else { return nil }
        let length = extended == 0 ? UInt64(short) : head[2..<2 + extended].reduce(0) { $0 << 8 | UInt64($1) }
        let isShortest = extended == 0 || (extended == 2 ? length > 125 : length > 0xFFFF)
        guard isShortest, length >> 63 == 0 else { throw .protocolError }
        let before = opcode < 0x8 ? message?.count ?? 0 : 0
        guard length <= UInt64(limit - before) else { throw .messageTooLarge }
        guard head.count == 2 + extended + 4 else { return nil }
        return Frame(opcode: opcode, isFinal: isFinal, mask: Array(head.suffix(4)), left: Int(length))
    }

    private func check(_ opcode: UInt8, _ isFinal: Bool) throws(WebSocketFault) {
        switch opcode {
        case 0x0: guard message != nil else { throw .protocolError }
        case 0x1: guard message == nil else { throw .protocolError }
        case 0x2: throw .unsupportedData
        case 0x8, 0x9, 0xA: guard isFinal else { throw .protocolError }
        default: throw .protocolError
        }
    }

    // MARK: Payloads

    private mutating func takePayload(_ rest: inout ArraySlice<UInt8>) {
        guard var frame = self.frame else { return }
        let piece = rest.prefix(frame.left)
        rest = rest[piece.endIndex...]
        let start = frame.received
        let plain = zip(piece, start...).lazy.map { byte, index in byte ^ frame.mask[index & 3] }
        if frame.opcode >= 0x8 {
            control.append(contentsOf: plain)
        } else {
            if message == nil { message = [] }
            // In place, so that a message that arrives byte by byte is not copied for each of them.
            message?.append(contentsOf: plain)
        }
        frame.received += piece.count
        frame.left -= piece.count
        self.frame = frame
    }

    private mutating func endFrame(_ events: inout [Event]) throws(WebSocketFault) {
        guard let frame else { return }
        self.frame = nil
        guard frame.opcode >= 0x8 else {
            guard frame.isFinal else { return }
            let text = message ?? []
            message = nil
            guard Self.isText(text) else { throw .invalidText }
            return events.append(.text(text))
        }
        let payload = control
        control = []
        switch frame.opcode {
        case 0x9: events.append(.ping(payload))
        case 0xA: events.append(.pong)
        default:
            isClosed = true
            events.append(.close(try Self.closeCode(payload)))
        }
    }

    private static func isText(_ bytes: some Sequence<UInt8>) -> Bool {
        String(validating: bytes, as: UTF8.self) != nil
    }

    private static func closeCode(_ payload: [UInt8]) throws(WebSocketFault) -> UInt16? {
        guard !payload.isEmpty else { return nil }
        guard payload.count >= 2 else { throw .protocolError }
        let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: break
        default: throw .protocolError
        }
        guard isText(payload[2...]) else { throw .invalidText }
        return code
    }
}

/// Writes the frames of a server, which are never masked or fragmented (RFC 6455, section 5).
enum WebSocketFrame {
    static func text(_ payload: [UInt8]) -> [UInt8] { frame(0x1, payload) }

    static func pong(_ payload: [UInt8]) -> [UInt8] { frame(0xA, payload) }

    static let ping = frame(0x9, [])

    /// - Parameter code: nil: the peer has sent none.
    static func close(_ code: UInt16?) -> [UInt8] { frame(0x8, code.map { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } ?? []) }

    private static func frame(_ opcode: UInt8, _ payload: [UInt8]) -> [UInt8] {
        var frame: [UInt8] = [0x80 | opcode]
        frame.reserveCapacity(payload.count + 10)
        switch payload.count {
        case 0...125: frame.append(UInt8(payload.count))
        case 126...0xFFFF: frame += [126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        default: frame += [127] + (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
        }
        return frame + payload
    }
}

/// Why a WebSocket is closed by the server (RFC 6455, section 7.4.1).
public enum WebSocketFault: UInt16, Error, Sendable {
    /// The service stops, or cannot serve the socket now.
    case goingAway = 1001
    case protocolError = 1002
    case unsupportedData = 1003
    case invalidText = 1007
    /// The peer is not allowed to stay, or reads too slowly.
    case policyViolation = 1008
    case messageTooLarge = 1009
    case tryAgainLater = 1013
}
