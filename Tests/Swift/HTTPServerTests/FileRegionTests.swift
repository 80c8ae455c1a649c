// Files that the kernel sends: exactly the requested bytes, also if the file is renamed or removed.

import Base
import Glibc
import HTTPServer
import HTTPTypes
import Testing

@Suite struct FileRegionTests {
    /// An unlinked file with the given bytes, open for reading and writing.
    private static func openFile(_ bytes: [UInt8]) throws -> Descriptor {
        var path = Array("/tmp/file-region-XXXXXX".utf8CString)
        let descriptor = mkstemp(&path)
        try #require(descriptor >= 0)
        unlink(path)
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress! + written, bytes.count - written) }
            try #require(count > 0)
            written += count
        }
        return Descriptor(owning: descriptor)
    }

    /// Bytes that reveal an offset error: they repeat after a prime number that is not close to a block size.
    private static func pattern(_ count: Int) -> [UInt8] {
        var state: UInt32 = 1
        let block = (0..<65_521).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(truncatingIfNeeded: state >> 24)
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + block.count)
        while bytes.count < count { bytes += block }
        return Array(bytes.prefix(count))
    }

    private static func serving(_ region: FileRegion) -> TestHandler {
        TestHandler { _ in .now(Response(status: .ok, body: .file(region))) }
    }

    @Test(arguments: [(0, 100_000), (1, 99_999), (99_999, 1), (12_345, 6_789), (0, 0)])
    func sendsExactlyTheRegion(offset: Int, length: Int) async throws {
        let bytes = Self.pattern(100_000)
        let descriptor = try Self.openFile(bytes)
        let region = FileRegion(of: descriptor, offset: UInt64(offset), length: UInt64(length))
        try await withServer(Self.serving(region)) { port in
            let client = try RawClient(port)
            for _ in 0..<3 {
                let response = try client.exchange()
                #expect(response["content-length"] == "\(length)")
                #expect(response.body == Array(bytes[offset..<offset + length]))
            }
            #expect(try client.exchange("HEAD")["content-length"] == "\(length)")
        }
    }

    @Test func sendsLargeFiles() async throws {
        let bytes = Self.pattern(64 << 20)
        let region = FileRegion(of: try Self.openFile(bytes), length: UInt64(bytes.count))
        try await withServer(Self.serving(region)) { port in
            let client = try RawClient(port)
            try client.send(RawClient.request())
            #expect(try client.readHead()["content-length"] == "\(bytes.count)")
            var position = 0
            while position < bytes.count {
                let piece = try client.read(count: 1 << 20)
                // Not with ==, which compares byte by byte in an unoptimized test.
                #expect(bytes.withUnsafeBytes { memcmp($0.baseAddress! + position, piece, piece.count) } == 0)
                position += piece.count
            }
        }
    }

    @Test func continuesAfterClientsDisconnectDuringAFile() async throws {
        let region = FileRegion(of: try Self.openFile(Self.pattern(8 << 20)), length: 8 << 20)
        try await withServer(Self.serving(region)) { port in
            for _ in 0..<20 {
                let client = try RawClient(port)
                try client.send(RawClient.request())
                _ = try client.readHead()
                client.resetOnClose()
            }
            #expect(try RawClient(port).exchange("HEAD").status == 200)
        }
    }

    @Test func closesIfTheFileIsTooShort() async throws {
        let region = FileRegion(of: try Self.openFile([1, 2, 3]), offset: 1, length: 3)
        try await withServer(Self.serving(region)) { port in
            let client = try RawClient(port)
            try client.send(RawClient.request())
            #expect(try client.readUntilClosed().isEmpty)
        }
    }

    @Test func closesIfTheFileIsTruncatedWhileSending() async throws {
        let length = 32 << 20
        let descriptor = try Self.openFile(Self.pattern(length))
        let region = FileRegion(of: descriptor, length: UInt64(length))
        try await withServer(Self.serving(region)) { port in
            let client = try RawClient(port, receiveBuffer: 4_096)
            try client.send(RawClient.request())
            _ = try client.readHead()
            #expect(ftruncate(descriptor.number, 1_000) == 0)
            #expect(try client.readUntilClosed().count < length)
        }
    }
}
