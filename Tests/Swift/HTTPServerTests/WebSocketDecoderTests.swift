import HTTPServer
import Testing

/// The frames of a client, byte by byte and all at once.
@Suite struct WebSocketDecoderTests {
    private typealias Event = WebSocketDecoder.Event

    private static let limit = 70_000

    /// A masked frame.
    private static func frame(
        _ opcode: UInt8, _ payload: [UInt8] = [], final: Bool = true, reserved: UInt8 = 0
    ) -> [UInt8] {
        let mask: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
        var frame: [UInt8] = [(final ? 0x80 : 0) | reserved | opcode]
        switch payload.count {
        case 0...125: frame.append(0x80 | UInt8(payload.count))
        case 126...0xFFFF: frame += [0x80 | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        default: frame += [0x80 | 127] + (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
        }
        return frame + mask + payload.enumerated().map { $1 ^ mask[$0 & 3] }
    }

    private static func text(_ text: String, final: Bool = true) -> [UInt8] {
        frame(0x1, Array(text.utf8), final: final)
    }

    /// The events, and the fault that ends them.
    private func decode(_ bytes: [UInt8], piece size: Int) -> ([WebSocketDecoder.Event], WebSocketFault?) {
        var decoder = WebSocketDecoder(limit: Self.limit)
        var events: [WebSocketDecoder.Event] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            do throws(WebSocketFault) { try decoder.take(rest.prefix(size), &events) } catch { return (events, error) }
            rest = rest.dropFirst(size)
        }
        return (events, nil)
    }

    private static let valid: [(bytes: [UInt8], events: [WebSocketDecoder.Event])] = [
        // RFC 6455, section 5.7.
        ([0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58], [.text(Array("Hello".utf8))]),
        (text(""), [.text([])]), (text("a") + text("b"), [.text([0x61]), .text([0x62])]),
        (text("Hel", final: false) + frame(0x0, Array("lo".utf8)), [.text(Array("Hello".utf8))]),
        // A character that two frames share, and control frames between fragments.
        (
            frame(0x1, [0xC3], final: false) + frame(0x9, [1]) + frame(0x0, [], final: false) + frame(0xA)
                + frame(0x0, [0xA4]), [.ping([1]), .pong, .text([0xC3, 0xA4])]
        ),
        (frame(0x1, Array(repeating: 0x61, count: 126)), [.text(Array(repeating: 0x61, count: 126))]),
        (frame(0x1, Array(repeating: 0x61, count: 66_000)), [.text(Array(repeating: 0x61, count: 66_000))]),
        (frame(0x8), [.close(nil)]), (frame(0x8, [0x03, 0xE8]), [.close(1000)]),
        (frame(0x8, [0x0F, 0xA0] + Array("bye".utf8)), [.close(4000)]),
        // Nothing is read behind a close.
        (frame(0x8, [0x03, 0xE8]) + [0xFF, 0xFF], [.close(1000)]),
    ]

    @Test(arguments: valid.indices, [1, 2, 7, 100_000]) func reads(_ index: Int, _ size: Int) {
        let (events, fault) = decode(Self.valid[index].bytes, piece: size)
        #expect(events == Self.valid[index].events)
        #expect(fault == nil)
    }

    private static let invalid: [(bytes: [UInt8], fault: WebSocketFault)] = [
        ([0x81, 0x05], .protocolError),  // no mask
        (frame(0x1, reserved: 0x40), .protocolError), (frame(0x1, reserved: 0x10), .protocolError),
        (frame(0x3), .protocolError), (frame(0xB), .protocolError), (frame(0xF), .protocolError),
        (frame(0x2, [1]), .unsupportedData),
        (frame(0x0), .protocolError),  // a continuation of nothing
        (text("a", final: false) + text("b"), .protocolError),
        (frame(0x9, final: false), .protocolError), (frame(0x8, final: false), .protocolError),
        ([0x89, 0x80 | 126, 0, 126], .protocolError),  // a long ping
        ([0x81, 0x80 | 126, 0, 125], .protocolError),
        ([0x81, 0x80 | 127, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], .protocolError),
        ([0x81, 0x80 | 127, 0x80, 0, 0, 0, 0, 0, 0, 0], .protocolError),
        ([0x81, 0x80 | 127, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], .messageTooLarge),
        ([0x81, 0x80 | 127, 0, 0, 0, 0, 0, 1, 0x11, 0x71], .messageTooLarge),  // 70,001 bytes
        (
            frame(0x1, Array(repeating: 0x61, count: 40_000), final: false)
                + frame(0x0, Array(repeating: 0x61, count: 40_000)), .messageTooLarge
        ),
        (frame(0x1, [0xFF]), .invalidText), (frame(0x1, [0xC3]), .invalidText),
        (frame(0x1, [0xED, 0xA0, 0x80]), .invalidText),
        (frame(0x8, [0x03]), .protocolError), (frame(0x8, [0x03, 0xED]), .protocolError),  // 1005 is never sent
        (frame(0x8, [0x00, 0x00]), .protocolError), (frame(0x8, [0x13, 0x88]), .protocolError),  // 5000
        (frame(0x8, [0x03, 0xE8, 0xFF]), .invalidText),
    ]

    @Test(arguments: invalid.indices, [1, 3, 100_000]) func refuses(_ index: Int, _ size: Int) {
        #expect(decode(Self.invalid[index].bytes, piece: size).1 == Self.invalid[index].fault)
    }

    @Test func aMessageOfTheLimitIsRead() {
        let payload = Array(repeating: UInt8(0x61), count: Self.limit)
        #expect(decode(Self.frame(0x1, payload), piece: 4096).0 == [.text(payload)])
    }
}
