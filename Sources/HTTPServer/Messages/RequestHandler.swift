import HTTPTypes

/// Produces the responses of a server.
///
/// The server calls both functions on its few network threads, several at once. While one of them runs, all other
/// connections of that thread wait. So they must return without waiting. Work that takes time belongs into
/// ``Answer/eventually(_:)``.
public protocol RequestHandler: Sendable {
    /// Called after the head has arrived, before any byte of a body is read (or, with `Expect: 100-continue`, sent).
    ///
    /// If a request with a body is refused, the connection is closed after the response, because the body is not read.
    func admit(_ head: RequestHead) -> Admission

    /// Renders the response to a request that the server itself refuses, so that all error documents look alike.
    ///
    /// The status should be ``RequestFault/status``. The connection is closed after the response, except for
    /// ``RequestFault/answerOverdue``.
    ///
    /// - Parameter head: nil if it could not be read.
    func malformed(_ fault: RequestFault, _ head: RequestHead?) -> Response
}
