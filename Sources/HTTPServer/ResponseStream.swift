import Locks

// A body that comes into being while it is sent: the owner writes at its own pace from any thread, the connection
// sleeps while there is nothing to send.
//
// The buffer between the two is bounded. A client that reads more slowly than the owner writes is cut off instead of
// being remembered in memory: with thousands of listeners nothing else keeps the service alive.

/// The writing half of a streamed body. It serves one answer.
///
/// A stream is for bodies without an end of their own, such as events: when the server stops it finishes every stream,
/// and the client cannot tell this from an end that the owner meant.
public final class ResponseStream: Sendable {
    /// How a stream came to its end.
    public enum End: Sendable, Hashable {
        /// ``ResponseStream/finish()`` was called and all bytes were handed to the kernel.
        case finished
        /// The client went away, or wanted no body in the first place (HEAD), or the answer was never sent.
        case clientGone
        /// More than the buffer limit was waiting for the client; the connection was closed.
        case clientTooSlow
        /// ``HTTPServer/stop(grace:)`` finished the stream.
        case serverStopped
    }

    private struct State: ~Copyable {
        var buffer = ByteQueue()
        /// No more writes, for this reason. What is buffered is still sent unless the client was too slow.
        var closed: End?
        /// The reader has been told of the end: all bytes were handed over.
        var drained = false
        var connection: Connection?
        /// Present while the connection sleeps for want of bytes.
        var suspension: Suspension?
        var onEnd: (@Sendable (End) -> Void)?
    }

    private let bufferLimit: Int
    private let state: Locked<State>

    /// - Parameters:
    ///   - bufferLimit: bytes that may wait for the client before it counts as too slow.
    ///   - onEnd: called exactly once, on a server thread, when nothing more can be sent for whatever reason.
    public init(bufferLimit: Int = 1 << 20, onEnd: (@Sendable (End) -> Void)? = nil) {
        self.bufferLimit = bufferLimit
        state = Locked(State(onEnd: onEnd))
    }

    /// Queues bytes for the client without waiting for it.
    ///
    /// A client that vanished is only noticed by writing to it, so an idle stream needs a heartbeat.
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
            guard state.buffer.count + bytes.count <= bufferLimit else {
                state.closed = .clientTooSlow
                state.buffer.removeAll()
                return (false, state.connection)
            }
            state.buffer.append(bytes)
            return (true, nil)
        }
        // The library may be waiting for the client to read: only the socket itself can end that.
        tooSlow?.abort()
        return accepted
    }

    /// Ends the body after what has been written. Calling it again changes nothing.
    public func finish() {
        close(.finished)
    }

    func close(_ end: End) {
        state.withLock { state in
            guard state.closed == nil else { return }
            state.closed = end
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
            if state.buffer.count > 0 { return .bytes(state.buffer.read(into: buffer)) }
            if state.closed != nil {
                state.drained = true
                return .end
            }
            state.suspension = Suspension(of: handle)
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
            state.suspension.take()?.resume()
            return (state.onEnd.take(), end)
        }
        onEnd?(end)
    }
}
