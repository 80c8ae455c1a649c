/// How a request is answered: at once, or by work that takes its time while the connection sleeps.
public enum Answer: Sendable {
    case now(Response)
    /// The closure runs as a task of its own. When it takes longer than ``HTTPServer/Options/waitLimit``, or the server
    /// stops before it is done, the task is cancelled, the client is told so with 503, and what the closure returns
    /// later is dropped. A client that goes away while it waits is not noticed before the answer is sent.
    case eventually(@Sendable () async -> Response)
    /// The same for work that does nothing but wait for something to happen: it is also cancelled when the client hangs
    /// up (or will not send any more), and should then return at once. Watching for that costs two system calls.
    case whileConnected(@Sendable () async -> Response)
}
