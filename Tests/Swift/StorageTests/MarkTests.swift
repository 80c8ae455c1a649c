import TestKit
import Testing

@testable import Storage
@testable import StorageSQLite

/// Tests the bytes of the mark.
@Suite struct MarkTests {
    private let marks = [
        Mark(state: .initialising), Mark(state: .running, identity: "0123456789abcdef0123"),
        Mark(state: .clean, identity: "0123456789abcdef0123", position: .init(commits: .max, lastEvent: .max)),
        Mark(state: .restoring, identity: "x", position: .init(commits: 12, lastEvent: 345)),
    ]

    @Test func readsWhatItWrites() {
        for mark in marks {
            #expect(mark.bytes.count == 2 * Mark.lineLength)
            #expect(Mark(mark.bytes) == mark)
        }
    }

    /// Flips every bit of the text and the checksum.
    @Test func refusesEveryDamagedByte() {
        let bytes = marks[1].bytes
        for index in bytes.indices where bytes[index] != UInt8(ascii: "\n") {
            for bit in 0..<8 {
                var damaged = bytes
                damaged[index] ^= 1 << UInt8(bit)
                // The blank between text and checksum carries no data.
                if index % Mark.lineLength == Mark.lineLength - 10 { continue }
                #expect(Mark(damaged) == nil, "bit \(bit) of byte \(index)")
            }
        }
        for count in 0..<bytes.count { #expect(Mark(Array(bytes.prefix(count))) == nil) }
        #expect(Mark(bytes + [0]) == nil)
    }
}
