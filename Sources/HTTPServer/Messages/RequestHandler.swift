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
