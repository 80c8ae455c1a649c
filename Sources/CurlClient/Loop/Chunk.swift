/// Bytes of a response body, with their memory.
///
/// A chunk counts against the window of its transfer while it is referenced, so release it when its bytes are
/// processed. The release returns the buffer to the client, and resumes the transfer if it was paused because the
/// window was full.
public final class Chunk: Sendable {
    public let count: Int
    private let buffer: Buffer
    private let pool: BufferPool
    private let window: SharedWindow

    init(_ buffer: Buffer, count: Int, pool: BufferPool, window: SharedWindow) {
        self.count = count
        self.buffer = buffer
        self.pool = pool
        self.window = window
    }

    deinit {
        pool.giveBack(buffer)
        window.giveBack(count)
    }

    /// The bytes, valid only during `body`.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: buffer.start, count: count))
    }
}
