/// Bytes of a response body, with their memory.
///
/// A chunk counts against the window of its transfer while it is referenced, so release it when its bytes are
/// processed. The release returns the buffer to the client, and resumes the transfer if it was paused because the
/// window was full.
public final class Chunk: Sendable {
    public let count: Int
    private let buffer: Buffer
    private let start: Int
    private let pool: BufferPool
    private let window: SharedWindow

    /// - Parameter range: the bytes of the chunk in the buffer.
    init(_ buffer: Buffer, _ range: Range<Int>, pool: BufferPool, window: SharedWindow) {
        start = range.lowerBound
        count = range.count
        self.buffer = buffer
        self.pool = pool
        self.window = window
    }

    deinit {
        pool.giveBack(buffer)
        window.giveBack(count)
    }

    /// The bytes, valid only during `body`. Their address and their offset in the body are equal modulo the size of a
    /// page, if the size of chunks is a multiple of it.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: buffer.start + start, count: count))
    }
}
