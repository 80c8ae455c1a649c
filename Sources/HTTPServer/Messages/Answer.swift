/// How a handler responds to a request: at once, or by asynchronous work while the connection is suspended.
public enum Answer: Sendable {
    case now(Response)
    /// At once, with a response that was rendered before.
    case prepared(PreparedResponse)
    /// The closure runs as a separate task. If it takes longer than ``HTTPServer/Options/waitLimit``, or the server
    /// stops, the task is cancelled, the client gets 503, and the result of the closure is dropped. A client that
    /// disconnects is not detected before the response is sent.
    case eventually(@Sendable () async -> Response)
    /// The same for work that only waits for an event. It is also cancelled when the client disconnects (or closes its
    /// sending side), and should then return at once. Detecting this costs two system calls.
    case whileConnected(@Sendable () async -> Response)
    /// The same without a task: the closure runs at once, on the thread of the connection, and must not block. It keeps
    /// the pending response until it can settle it. A task costs about 12 KiB while it waits.
    case parked(@Sendable (PendingResponse) -> Void)
    /// The connection becomes a WebSocket.
    case webSocket(WebSocketUpgrade)
}
