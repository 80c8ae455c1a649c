import Testing

@testable import CurlClient

/// How long an unfinished chunk waits for more bytes.
@Suite struct ChunkBuilderTests {
    private let start = ContinuousClock.now

    private func builder() throws -> ChunkBuilder {
        let window = SharedWindow(
            of: TransferID(), capacity: 1 << 20, within: HeldBytes(limit: .max), mailbox: try Mailbox())
        return ChunkBuilder(pool: BufferPool(bufferBytes: 1 << 19), window: window, patience: .milliseconds(200))
    }

    /// The times of pieces of one byte, and the times at which their chunks are due, in milliseconds. A chunk is delivered when
    /// it is due.
    @Test(arguments: [
        (pieces: [0], due: [200]),
        // Nothing follows in time, so the next pieces need not wait.
        (pieces: [0, 1000, 2000, 2300], due: [200, 1000, 2000, 2300]),
        // Bytes follow in time: they share a chunk.
        (pieces: [0, 50, 100, 190, 300], due: [200, 500]),
        // A slow transfer becomes faster, and slow again.
        (pieces: [0, 1000, 1100, 1200, 3000, 4000], due: [200, 1000, 1300, 3200, 4000]),
    ])
    func aChunkWaitsOnlyIfBytesFollow(_ trial: (pieces: [Int], due: [Int])) throws {
        var builder = try builder()
        var due: [Int] = []
        func deliver(upTo time: Int) {
            while let moment = builder.due, moment <= start + .milliseconds(time) {
                due.append(Int((moment - start) / .milliseconds(1)))
                _ = builder.takeOverdue()
            }
        }
        for time in trial.pieces {
            deliver(upTo: time - 1)
            [UInt8(1)].withUnsafeBytes { bytes in
                builder.append(bytes, at: start + .milliseconds(time)) { _ in Issue.record("no chunk is full") }
            }
        }
        deliver(upTo: 10_000)
        #expect(due == trial.due)
    }

    @Test func aFullChunkIsDeliveredAtOnce() throws {
        var builder = try builder()
        var sizes: [Int] = []
        [UInt8](repeating: 1, count: (32 << 10) + (1 << 19) + 7).withUnsafeBytes { bytes in
            builder.append(bytes, at: start) { sizes.append($0.count) }
        }
        #expect(sizes == [32 << 10, 1 << 19] && builder.takePending()?.count == 7 && builder.due == nil)
    }

    @Test func aChunkIsExtendedInItsOwnMemory() throws {
        var builder = try builder()
        #expect(builder.room.isEmpty)
        [UInt8](repeating: 1, count: 10).withUnsafeBytes { builder.append($0, at: start) { _ in } }
        #expect(builder.room.count == (32 << 10) - 10)
        builder.room[0] = 2
        builder.extend(by: 1)
        [UInt8(3)].withUnsafeBytes { builder.append($0, at: start) { _ in } }
        let pending = builder.takePending()
        let chunk = try #require(pending)
        #expect(chunk.withUnsafeBytes { Array($0) } == Array(repeating: 1, count: 10) + [2, 3])
        // The next chunk begins at its place within a page of the body.
        [UInt8(4)].withUnsafeBytes { builder.append($0, at: start) { _ in } }
        #expect(builder.room.count == (32 << 10) - 13)
    }
}
