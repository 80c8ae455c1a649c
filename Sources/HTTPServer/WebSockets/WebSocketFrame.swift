/// Writes the frames of a server, which are never masked or fragmented (RFC 6455, section 5).
enum WebSocketFrame {
    static func text(_ payload: [UInt8]) -> [UInt8] { frame(0x1, payload) }

    static func pong(_ payload: [UInt8]) -> [UInt8] { frame(0xA, payload) }

    static let ping = frame(0x9, [])

    /// - Parameter code: nil: the peer has sent none.
    static func close(_ code: UInt16?) -> [UInt8] {
        frame(0x8, code.map { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } ?? [])
    }

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
