import Base
import Foundation
import TestKit
import Testing

/// Bodies in every form in which servers send them, in pieces of any size. The coded bytes are Python's.
@Suite struct InflatingDecoderTests {
    private static let plain = Array(String(repeating: "The quick brown fox. ", count: 40_000).utf8)

    private static func coded(_ expression: String) async throws -> [UInt8] {
        let program = """
            import sys, zlib, gzip
            plain = b"The quick brown fox. " * 40000
            def raw(data):
                coder = zlib.compressobj(6, zlib.DEFLATED, -15)
                return coder.compress(data) + coder.flush()
            sys.stdout.write((\(expression)).hex())
            """
        let outcome = try await ChildProcess.run("/usr/bin/python3", ["-c", program])
        let digits = Array(outcome.output.utf8)
        return stride(from: 0, to: digits.count - 1, by: 2).map { index in
            UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16) ?? 0
        }
    }

    private func decode(_ bytes: [UInt8], _ coding: ContentCoding, by size: Int) throws -> [UInt8] {
        let decoder = InflatingDecoder(coding)
        var plain: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            let piece = bytes[start..<min(start + size, bytes.count)]
            try piece.withUnsafeBytes { piece in
                try decoder.decode(piece) {
                    plain.append(contentsOf: $0)
                    return true
                }
            }
        }
        try decoder.finish()
        return plain
    }

    @Test(arguments: [
        ("gzip.compress(plain)", ContentCoding.gzip), ("zlib.compress(plain)", .deflate), ("raw(plain)", .deflate),
        ("gzip.compress(plain[:1000]) + gzip.compress(plain[1000:])", .gzip),
        ("gzip.compress(plain) + bytes(512)", .gzip), ("zlib.compress(plain) + b'more'", .deflate),
    ])
    func decodesEveryForm(_ expression: String, _ coding: ContentCoding) async throws {
        let bytes = try await Self.coded(expression)
        for size in [1, 2, 3, 1000, 1 << 20] { #expect(try decode(bytes, coding, by: size) == Self.plain) }
    }

    @Test func decodesEmptyFile() async throws {
        #expect(try await decode(Self.coded("gzip.compress(b'')"), .gzip, by: 7) == [])
        #expect(try decode([], .gzip, by: 1) == [])
    }

    @Test(arguments: ["gzip.compress(plain)[:-1]", "gzip.compress(plain)[:100]", "gzip.compress(plain)[:1]"])
    func reportsEarlyEnd(_ expression: String) async throws {
        let bytes = try await Self.coded(expression)
        #expect(throws: InflationError.incomplete) { try decode(bytes, .gzip, by: 64) }
    }

    @Test(arguments: [
        ("b'this is no gzip at all'", ContentCoding.gzip), ("b'\\xff\\xff\\xff\\xff'", .deflate),
        ("gzip.compress(plain)[:-8] + bytes(8)", .gzip),
    ])
    func refusesDamagedBytes(_ expression: String, _ coding: ContentCoding) async throws {
        let bytes = try await Self.coded(expression)
        #expect {
            try decode(bytes, coding, by: 64)
        } throws: { error in
            if case .invalid? = error as? InflationError { true } else { false }
        }
    }

    @Test func stopsWhenReceiverStops() async throws {
        let (bytes, decoder) = (try await Self.coded("gzip.compress(plain)"), InflatingDecoder(.gzip))
        var pieces = 0
        for _ in 0..<2 {
            try bytes.withUnsafeBytes { bytes in
                try decoder.decode(bytes) { _ in
                    pieces += 1
                    return false
                }
            }
        }
        #expect(pieces == 1)
    }

    @Test func knowsCodingsByTheirNames() {
        #expect(ContentCoding("GZIP") == .gzip)
        #expect(ContentCoding("x-gzip") == .gzip)
        #expect(ContentCoding("deflate") == .deflate)
        for name in ["br", "zstd", "identity", "", "gzip, gzip"] { #expect(ContentCoding(name) == nil) }
    }
}
