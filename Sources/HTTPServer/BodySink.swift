import Base

/// Takes a body piece by piece as it arrives, so that no body has to fit into memory.
public protocol BodySink: Sendable {
    /// The server calls this on its network thread, so it must return without waiting.
    ///
    /// - Parameter onRoom: called once, by any thread, when the sink takes more after it has returned false.
    /// - Returns: whether the sink takes more now. If not, the server reads nothing from the client until `onRoom` is called.
    func take(_ piece: UnsafeRawBufferPointer, onRoom: @escaping @Sendable () -> Void) -> Bool

    /// The body will not be complete: the client has gone, or is too slow, or the body is too large.
    func abandon()
}

/// A connection from which nothing is read, because the sink of the body has no room.
///
/// The sink may make room before the network thread has suspended the connection. The connection is resumed exactly once.
final class BodyPause: Sendable {
    private struct State: ~Copyable {
        var isOver = false
        var suspension: SuspendedConnection?
    }

    private let state = Locked(State())

    /// Must be called within a callback of the connection.
    ///
    /// - Returns: false if the pause is over already.
    func suspend(_ handle: OpaquePointer) -> Bool {
        state.withLock { state in
            if !state.isOver { state.suspension = SuspendedConnection(of: handle) }
            return !state.isOver
        }
    }

    func end() {
        state.withLock { state in
            state.isOver = true
            state.suspension.take()?.resume()
        }
    }
}
