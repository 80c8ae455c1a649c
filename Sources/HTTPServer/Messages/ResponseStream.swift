import Locks

// A body that comes into being while it is sent: the owner writes at its own pace from any thread, the connection
// sleeps while there is nothing to send.
//
// The buffer between the two is bounded. A client that reads more slowly than the owner writes is cut off instead of
// being remembered in memory: with thousands of listeners nothing else keeps the service alive. An owner that has as
// much time as its client waits for room instead.

/// The writing half of a streamed body. It serves one answer.
///
/// Without a length, a stream is for bodies that have no end of their own, such as events: when the server stops it
/// finishes every stream, and the client cannot tell this from an end that the owner meant. With a length, the last byte
/// is the end; before it, the connection is closed, so that the client sees that something is missing.
public final class ResponseStream: Sendable {
    /// How a stream came to its end.
    public enum End: Sendable, Hashable {
        /// ``ResponseStream/finish()`` was called, or the announced length written, and all bytes were handed over.
        case finished
        /// The client went away, or wanted no body in the first place (HEAD), or the answer was never sent.
        case clientGone
        /// More than the buffer limit was waiting for the client; the connection was closed.
        case clientTooSlow
        /// ``HTTPServer/stop(grace:)`` finished the stream.
        case serverStopped
    }

    /// A task that waits for room.
    private struct Writer {
        let count: Int
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State: ~Copyable {
        let bufferLimit: Int
        /// Bytes that may still be written; nil without a length.
        var unwritten: Int64?
        var buffer = ByteQueue()
        var writer: Writer?
        /// No more writes, for this reason. What is buffered is still sent unless the client was too slow.
        var closed: End?
        /// The reader has been told of the end: all bytes were handed over.
        var drained = false
        var connection: Connection?
        /// Present while the connection sleeps for want of bytes.
        var suspension: SuspendedConnection?
        var onEnd: (@Sendable (End) -> Void)?

        func hasRoom(for count: Int) -> Bool { buffer.count + count <= bufferLimit }

        mutating func wakeWriter() {
            guard let writer, closed != nil || hasRoom(for: writer.count) else { return }
            self.writer = nil
            writer.continuation.resume(returning: closed == nil)
        }
    }

    /// The announced `Content-Length` in bytes; nil for a body that is chunked.
    let length: Int64?
    private let state: Locked<State>

    /// - Parameters:
    ///   - length: bytes that the body has, when that is known beforehand.
    ///   - bufferLimit: bytes that may wait for the client before it counts as too slow.
    ///   - onEnd: called exactly once, on a server thread, when nothing more can be sent for whatever reason.
    public init(length: Int64? = nil, bufferLimit: Int = 1 << 20, onEnd: (@Sendable (End) -> Void)? = nil) {
        self.length = length
        let isEmpty = length == 0
        state = Locked(
            State(
                bufferLimit: bufferLimit, unwritten: length, closed: isEmpty ? .finished : nil, drained: isEmpty,
                onEnd: onEnd))
    }

    /// Queues bytes for the client without waiting for it.
    ///
    /// A client that hung up is noticed where there is no length; one that vanished without a word only by writing to it,
    /// so an idle stream needs a heartbeat. More than the announced length is a mistake of the owner.
    ///
    /// - Returns: false when they will not be sent, because the stream has ended or because they went over the buffer
    ///   limit and ended it.
    @discardableResult
    public func write(_ bytes: [UInt8]) -> Bool {
        let tooSlow: Connection?
        let accepted: Bool
        (accepted, tooSlow) = state.withLock { state in
            guard state.closed == nil else { return (false, nil) }
            defer { state.suspension.take()?.resume() }
            guard state.hasRoom(for: bytes.count) else {
                state.closed = .clientTooSlow
                state.buffer.removeAll()
                state.wakeWriter()
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
        // The library may be waiting for the client to read: only the socket itself can end that.
        tooSlow?.abort()
        return accepted
    }

    /// Waits until so many bytes, at most the buffer limit, can be written: for an owner with as much time as its client.
    /// One task at a time.
    ///
    /// - Returns: false when nothing more will be sent.
    public func room(for count: Int) async -> Bool {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                precondition(state.writer == nil, "two tasks wait for room")
                precondition(count <= state.bufferLimit, "there will never be room for \(count) bytes")
                state.writer = Writer(count: count, continuation: continuation)
                state.wakeWriter()
            }
        }
    }

    /// Ends the body after what has been written. Calling it again changes nothing.
    public func finish() {
        close(.finished)
    }

    func close(_ end: End) {
        state.withLock { state in
            guard state.closed == nil else { return }
            state.closed = end
            state.wakeWriter()
            state.suspension.take()?.resume()
        }
    }
}

// MARK: - The reading half, called by the server

extension ResponseStream {
    /// What the reader gets when it asks for bytes.
    enum Reading {
        case bytes(Int)
        /// Nothing yet: the connection has been put to sleep.
        case asleep
        case end
        case failure
    }

    /// Claims the stream for a connection; false when another answer has it already.
    func attach(to connection: Connection) -> Bool {
        state.withLock { state in
            guard state.connection == nil else { return false }
            state.connection = connection
            return true
        }
    }

    /// Moves bytes to the connection, or puts it to sleep until there are some. Called within its callbacks only.
    func read(into buffer: UnsafeMutableRawBufferPointer, for handle: OpaquePointer) -> Reading {
        state.withLock { state in
            if state.closed == .clientTooSlow { return .failure }
            if state.buffer.count > 0 {
                let count = state.buffer.read(into: buffer)
                // The library does not ask for the end of a body whose length it knows.
                if state.unwritten == 0, state.buffer.count == 0 { state.drained = true }
                state.wakeWriter()
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

    /// The answer will never be sent. A stream that another answer has claimed is not concerned.
    func abandon() {
        if state.withLock({ $0.connection == nil }) { detach() }
    }

    /// The answer is over, sent or not: refuses further writes and tells the owner how it ended.
    func detach() {
        let (onEnd, end) = state.withLock { state in
            // Finished by the owner, but not read to the end: somebody else hung up.
            let end: End = state.closed == .finished && !state.drained ? .clientGone : state.closed ?? .clientGone
            state.closed = end
            state.buffer.removeAll()
            state.wakeWriter()
            state.suspension.take()?.resume()
            return (state.onEnd.take(), end)
        }
        onEnd?(end)
    }
}
