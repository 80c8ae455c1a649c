import Base
import CLinux
import Foundation
import TestKit
import Testing

@testable import Engine

@Suite struct PartWriterTests {
    /// Memory with a gap to its first aligned byte.
    private final class Memory {
        let all: UnsafeMutableRawBufferPointer
        let bytes: UnsafeRawBufferPointer

        init(_ content: [UInt8], gap: Int) {
            all = .allocate(byteCount: content.count + gap, alignment: 4096)
            all.baseAddress?.advanced(by: gap).copyMemory(from: content, byteCount: content.count)
            bytes = UnsafeRawBufferPointer(rebasing: all[gap...])
        }

        deinit { all.deallocate() }
    }

    @Test(
        arguments: [
            // gap, offset in the file, bytes, the aligned bytes
            (0, 0, 262_144, 0..<262_144),
            (0, 4096, 262_144, 0..<262_144),
            (0, 0, 262_145, 0..<262_144),
            (0, 0, 131_072, 0..<131_072),
            (0, 0, 131_071, nil),
            (100, 100, 262_144, 3996..<262_044),
            (100, 4196, 262_144, 3996..<262_044),
            (100, 0, 262_144, nil),
            (0, 100, 262_144, nil),
            (0, 0, 0, nil),
        ] as [(Int, Int64, Int, Range<Int>?)])
    func findsTheBytesThatAreAlignedInMemoryAndInTheFile(gap: Int, offset: Int64, count: Int, aligned: Range<Int>?) {
        let memory = Memory([UInt8](repeating: 1, count: count), gap: gap)
        #expect(PartWriter.aligned(memory.bytes, at: offset) == aligned)
    }

    /// Small and large writes, aligned and not, in the order of a transfer that stalls at times.
    @Test(arguments: [PartWriter.largeFile - 1, PartWriter.largeFile])
    func writesEveryByteInItsPlace(fileSize: Int64) throws {
        let temporary = try TemporaryFolder()
        let path = temporary.path + "/file"
        let file = try #require(Descriptor(result: open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)))
        let writer = PartWriter()
        writer.expect(fileSize)
        let content = Content.random(seed: 5, count: 2_000_123)
        var offset = 0
        for size in [32_768, 524_288, 7_001, 25_767, 524_288, 1, 300_000, 524_288] {
            let piece = Array(content[offset..<min(offset + size, content.count)])
            let memory = Memory(piece, gap: offset % 4096)
            try writer.write(memory.bytes, at: Int64(offset), to: file)
            offset += piece.count
        }
        let rest = Memory(Array(content[offset...]), gap: 0)
        try writer.write(rest.bytes, at: Int64(offset), to: file)
        let isSupported = Descriptor(result: open(path, O_WRONLY | linux_O_DIRECT)) != nil
        #expect(writer.isDirect == (isSupported && fileSize == PartWriter.largeFile))
        #expect(try Data(contentsOf: URL(filePath: path)) == Data(content))
    }
}
