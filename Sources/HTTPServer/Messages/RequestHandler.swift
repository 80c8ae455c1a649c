// What the owner of a server supplies: three questions that the server asks about every request, and the two kinds of
// answer it takes. The server knows nothing of routes or documents; it carries questions in and answers out.

import HTTPTypes

/// Decides what a server answers.
///
/// All three functions are called on the server's few network threads, from several at once: while one of them runs,
/// every other connection of that thread stands still. They must return without waiting for anything; what needs time
/// goes into ``Answer/eventually(_:)``.
public protocol RequestHandler: Sendable {
    /// Asked once the head has arrived and before any byte of a body is read (or, with `Expect: 100-continue`, sent).
    ///
    /// A refusal of a request that has a body closes the connection after the answer: the only other way past the
    /// unread body would be to read it.
    func admit(_ head: RequestHead) -> Admission

    /// Asked once the whole request has arrived.
    func respond(to request: Request) -> Answer

    /// Renders the answer to a request that the server itself turns down, so that its documents look like the owner's.
    ///
    /// The status should be ``RequestFault/status``. Except for ``RequestFault/answerOverdue`` the connection is closed
    /// after the answer.
    ///
    /// - Parameter head: nil where it could not be read.
    func malformed(_ fault: RequestFault, _ head: RequestHead?) -> Response
}

/// The verdict on a request head.
public enum Admission: Sendable {
    /// Read the body, up to this many bytes (by default ``HTTPServer/Options/maxBodyBytes``); one more and the request
    /// is refused with 413.
    case accept(maxBodyBytes: Int? = nil)
    /// Answer now, without reading the body.
    case refuse(Response)
}

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
