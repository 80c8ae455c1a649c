import Base

/// A body that is produced while it is sent. The owner writes from any thread, and the connection is suspended while
/// there is nothing to send. A stream serves one response.
///
/// The buffer between both is bounded. A client that reads more slowly than the owner writes is disconnected, because
/// with thousands of readers the memory would not suffice. An owner that can wait uses ``room(for:)`` instead.
///
/// Without a length, a stream is for bodies without an end of their own, such as events. When the server stops, it finishes
/// every stream, and the client cannot distinguish this from the end that the owner sets. With a length, the body ends at the
/// last byte. If the stream ends earlier, the connection is closed, so that the client detects the missing bytes.
public final class ResponseStream: Sendable {
    public enum End: Sendable, Hashable {
        /// ``ResponseStream/finish()`` was called, or the announced length was written, and all bytes were sent.
        case finished
        /// The client disconnected, or requested no body (HEAD), or the response was never sent.
        case clientGone
        /// More bytes than the buffer limit waited for the client. The connection was closed.
        case clientTooSlow
        /// ``ResponseStream/fail()`` was called. The connection was closed, so the client sees that the body is not complete.
        case failed
        /// ``HTTPServer/stop(grace:)`` finished the stream.
        case serverStopped
    }

    private struct Writer {
        let count: Int
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State: ~Copyable {
        /// The number of bytes that may still be written; nil without a length.
        var unwritten: Int64?
        var buffer = ByteQueue()
        var writer: Writer?
        /// Set when the stream is closed for writes. Buffered bytes are still sent, unless the client was too slow.
        var closed: End?
        var drained = false
        var connection: Connection?
        /// Present while the connection is suspended because the buffer is empty.
        var suspension: SuspendedConnection?
        var onEnd: (@Sendable (End) -> Void)?

        mutating func wakeWriter(_ bufferLimit: Int) {
            guard let writer, closed != nil || buffer.count + writer.count <= bufferLimit else { return }
            self.writer = nil
            writer.continuation.resume(returning: closed == nil)
        }
    }

    /// The announced `Content-Length` in bytes; nil for a chunked body.
    public let length: Int64?
    /// The number of bytes that may wait for the client.
    public let bufferLimit: Int
    private let state: Locked<State>

    /// - Parameters:
    ///   - length: the length of the body in bytes, if it is known.
    ///   - bufferLimit: the number of bytes that may wait for the client before it counts as too slow.
    ///   - onEnd: called exactly once, on a server thread, when nothing more can be sent for any reason.
    public init(length: Int64? = nil, bufferLimit: Int = 1 << 20, onEnd: (@Sendable (End) -> Void)? = nil) {
        self.length = length
        self.bufferLimit = bufferLimit
        let isEmpty = length == 0
        state = Locked(
            State(unwritten: length, closed: isEmpty ? .finished : nil, drained: isEmpty, onEnd: onEnd))
    }

    /// Queues bytes for the client without waiting for it.
    ///
    /// Without a length, a client that closes its connection is detected. A client that vanishes without closing is detected
    /// only by writes, so an idle stream needs a heartbeat. The owner must not write more than the announced length.
    ///
    /// - Returns: false if the bytes will not be sent, because the stream has ended, or because the buffer limit was
    ///   exceeded, which ends it.
    @discardableResult
    public func write(_ bytes: [UInt8]) -> Bool {
        let (accepted, tooSlow): (Bool, Connection?) = state.withLock { state in
            guard state.closed == nil else { return (false, nil) }
            defer { state.suspension.take()?.resume() }
            guard state.buffer.count + bytes.count <= bufferLimit else {
                state.closed = .clientTooSlow
                state.buffer.removeAll()
                state.wakeWriter(bufferLimit)
                return (false, state.connection)
            }
            if let unwritten = state.unwritten {
                precondition(bytes.count <= unwritten, "more than the announced length was written")
                state.unwritten = unwritten - Int64(bytes.count)
                if state.unwritten == 0 { state.closed = .finished }
            }
            state.buffer.append(bytes)
            return (true, nil)
        }
        // The library may be waiting for the client to read. Only a shutdown of the socket ends that.
        tooSlow?.abort()
        return accepted
    }

    /// Waits until `count` bytes, at most the buffer limit, can be written. For owners that can wait for the client.
    /// Only one task may wait at a time.
    ///
    /// - Returns: false if nothing more will be sent.
    public func room(for count: Int) async -> Bool {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                precondition(state.writer == nil, "two tasks wait for room")
                precondition(count <= bufferLimit, "there will never be room for \(count) bytes")
                state.writer = Writer(count: count, continuation: continuation)
                state.wakeWriter(bufferLimit)
            }
        }
    }

    /// Ends the body after the written bytes. Further calls have no effect.
    public func finish() { close(.finished) }

    /// Ends the body without its end, because the rest of it is not known.
    public func fail() { close(.failed) }

    func close(_ end: End) {
        state.withLock { state in
            guard state.closed == nil else { return }
            state.closed = end
            if end == .failed { state.buffer.removeAll() }
            state.wakeWriter(bufferLimit)
            state.suspension.take()?.resume()
        }
    }
}

// MARK: - The reading half, called by the server

extension ResponseStream {
    enum Reading {
        case bytes(Int)
        /// No bytes yet. The connection was suspended.
        case asleep
        case end
        case failure
    }

    /// Assigns the stream to a connection; false if another response already uses it.
    func attach(to connection: Connection) -> Bool {
        state.withLock { state in
            guard state.connection == nil else { return false }
            state.connection = connection
            return true
        }
    }

    /// Moves bytes to the connection, or suspends it until there are some. Must be called within its callbacks.
    func read(into buffer: UnsafeMutableRawBufferPointer, for handle: OpaquePointer) -> Reading {
        state.withLock { state in
            if state.closed == .clientTooSlow || state.closed == .failed { return .failure }
            if state.buffer.count > 0 {
                let count = state.buffer.read(into: buffer)
                // The library does not read the end of a body with a known length.
                if state.unwritten == 0, state.buffer.count == 0 { state.drained = true }
                state.wakeWriter(bufferLimit)
                return .bytes(count)
            }
            if state.closed != nil {
                state.drained = true
                return length == nil ? .end : .failure
            }
            state.suspension = SuspendedConnection(of: handle)
            return .asleep
        }
    }

    /// The response will never be sent. A stream that another response uses is not affected.
    func abandon() {
        if state.withLock({ $0.connection == nil }) { detach() }
    }

    /// The response has ended, sent or not. Closes the stream for writes, and reports the end to the owner.
    func detach() {
        let (onEnd, end) = state.withLock { state in
            // The owner has finished the stream, but it was not read to its end, so the client has disconnected.
            let end: End = state.closed == .finished && !state.drained ? .clientGone : state.closed ?? .clientGone
            state.closed = end
            state.buffer.removeAll()
            state.wakeWriter(bufferLimit)
            state.suspension.take()?.resume()
            return (state.onEnd.take(), end)
        }
        onEnd?(end)
    }
}

/// A first-in, first-out queue of bytes between a writer and a slower reader.
struct ByteQueue {
    private var bytes: [UInt8] = []
    private var start = 0

    var count: Int { bytes.count - start }

    mutating func append(_ more: [UInt8]) {
        if start == bytes.count {
            bytes = more  // the usual case: the reader keeps up, and nothing is copied
            start = 0
        } else {
            // Removing the bytes that were read moves the rest, so this waits until the rest is the smaller half.
            if start > count {
                bytes.removeFirst(start)
                start = 0
            }
            bytes.append(contentsOf: more)
        }
    }

    mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let moved = min(count, buffer.count)
        bytes.withUnsafeBytes { source in
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[start..<start + moved]))
        }
        start += moved
        if start == bytes.count { removeAll() }
        return moved
    }

    mutating func removeAll() {
        bytes = []
        start = 0
    }

    /// Passes the bytes that are in the queue, without removing them.
    func withFirstBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start...])) }
    }

    mutating func drop(_ count: Int) {
        start += count
        if start == bytes.count { removeAll() }
    }
}
