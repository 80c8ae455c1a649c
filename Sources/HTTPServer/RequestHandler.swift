import HTTPTypes

/// Produces the responses of a server.
///
/// The server calls both functions on its few network threads, several at once. While one of them runs, all other connections of
/// that thread wait. So they must return without waiting. Work that takes time belongs into ``Answer/eventually(_:)``.
public protocol RequestHandler: Sendable {
    /// Called after the head has arrived, before any byte of a body is read (or, with `Expect: 100-continue`, sent).
    ///
    /// If a request with a body is refused, the connection is closed after the response, because the body is not read.
    func admit(_ head: RequestHead) -> RouteDecision

    /// Renders the response to a request that the server itself refuses, so that all error documents look alike.
    ///
    /// The status should be ``RequestFault/status``. The connection is closed after the response, except for
    /// ``RequestFault/answerOverdue``.
    ///
    /// - Parameter head: nil if it could not be read.
    func malformed(_ fault: RequestFault, _ head: RequestHead?) -> Response
}

public enum RouteDecision: Sendable {
    /// Read the body, at most this many bytes (by default ``HTTPServer/Options/maxBodyBytes``), and respond to the
    /// complete request. A larger body is refused with 413.
    ///
    /// The server calls `respond` on its network thread, so it must return without waiting. It may use all that was
    /// found out about the head, so that nothing is looked up twice. With a sink, the request that it gets has no body: the
    /// sink has taken it. Such a body has no deadline, but the rate ``HTTPServer/Options/bodyBytesPerSecond``.
    case accept(maxBodyBytes: Int? = nil, sink: (any BodySink)? = nil, respond: @Sendable (Request) -> Answer)
    case refuse(Response)
}

/// How a handler responds to a request: at once, or by asynchronous work while the connection is suspended.
public enum Answer: Sendable {
    case now(Response)
    case prepared(PreparedResponse)
    /// The closure runs as a separate task. If it takes longer than `limit` (nil: ``HTTPServer/Options/waitLimit``), or the
    /// server stops, the task is cancelled, the client gets 503, and the result of the closure is dropped. A client that
    /// disconnects is not detected before the response is sent.
    case eventually(limit: Duration? = nil, @Sendable () async -> Response)
    /// It is like `eventually`, for work that only waits for an event. The task is also cancelled when the client disconnects
    /// (or closes its sending side), and should then return at once. Detecting this costs two system calls.
    case whileConnected(@Sendable () async -> Response)
    /// It is like `whileConnected`, without a task. The closure runs at once, on the thread of the connection, and must not
    /// block. It keeps the pending response until it can settle it. A task costs about 12 KiB while it waits.
    case parked(@Sendable (DeferredResponse) -> Void)
    case webSocket(WebSocketUpgrade)
}
