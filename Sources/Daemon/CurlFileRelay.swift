import API
import CurlClient
import HTTPServer
import HTTPTypes

/// Requests files from other nodes with libcurl.
public struct CurlFileRelay: FileRelay {
    private let client: CurlClient

    public init(_ client: CurlClient) { self.client = client }

    public func response(
        to method: HTTPRequest.Method, url: String, headers: [(name: String, value: String)]
    ) async throws(FileRelayError) -> Response {
        var request = TransferRequest(url: url, method: method.rawValue, headers: headers)
        // Administrators name the nodes; the rules of downloads are for the URLs of clients.
        request.admitsAnyAddress = true
        request.timeouts = .init(connect: .seconds(5), idle: .seconds(60))
        let relayed = RelayedResponse(isBodyWanted: method != .head)
        let transfer = client.start(request, handler: relayed)
        relayed.cancels { transfer.cancel() }
        return try await relayed.response.get()
    }
}
