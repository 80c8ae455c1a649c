import HTTPServer
import HTTPTypes
import Synchronization

/// Identifies a request in its response, in the log and in the logs of the client (`X-Request-Id`).
struct RequestID: Sendable, Hashable {
    let text: String

    /// The client's own identifier; nil if it has sent none, or one that is not 1 to 128 of `A-Z a-z 0-9 . _ : + / = @ -`.
    init?(sentWith head: RequestHead) {
        guard head.headers.contains(.requestID), let text = head.headers[.requestID],
            (1...128).contains(text.utf8.count), text.utf8.allSatisfy(Self.isSafe)
        else { return nil }
        self.text = text
    }

    /// A new identifier: 16 hexadecimal digits.
    init() {
        // SplitMix64 (Steele, Lea, Flood 2014): no two of a process are equal, and it needs no system call.
        let number = Self.next.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
        var mixed = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        mixed ^= mixed >> 31
        let digits = String(mixed, radix: 16)
        text = String(repeating: "0", count: 16 - digits.count) + digits
    }

    private static let next = Atomic<UInt64>(.random(in: .min ... .max))

    private static func isSafe(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "._:+/=@-".utf8.contains(byte)
        }
    }
}

extension HTTPField.Name {
    static let requestID = HTTPField.Name("X-Request-Id")!
}
