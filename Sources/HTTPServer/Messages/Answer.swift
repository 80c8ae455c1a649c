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
}
