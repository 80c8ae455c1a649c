import HTTPServer
import HTTPTypes

/// Requests a file from the node that has it, and passes the response on while it arrives.
public protocol FileRelay: Sendable {
    /// - Parameters:
    ///   - url: of the file at the other node.
    ///   - headers: the fields of the request.
    /// - Returns: the response of the other node. If its connection is lost, the body ends early.
    /// - Throws: if there is no response.
    func response(
        to method: HTTPRequest.Method, url: String, headers: [(name: String, value: String)]
    ) async throws(FileRelayError) -> Response
}

/// Why another node has not responded.
public struct FileRelayError: Error {
    /// A sentence without its last full stop.
    let reason: String

    public init(_ reason: String) { self.reason = reason }
}
