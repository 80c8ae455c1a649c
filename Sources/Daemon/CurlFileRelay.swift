import API
import CurlClient
import HTTPServer
import HTTPTypes

/// Requests files from other nodes with libcurl.
public struct CurlFileRelay: FileRelay {
    private let client: CurlClient
    private let slots: RelaySlots

    /// - Parameter limit: the largest number of responses that are passed on at the same time. A further request is refused.
    public init(_ client: CurlClient, limit: Int = .max) {
        (self.client, slots) = (client, RelaySlots(limit: limit))
    }

    public func response(
        to method: HTTPRequest.Method, url: String, headers: [(name: String, value: String)]
    ) async throws(FileRelayError) -> Response {
        var request = TransferRequest(url: url, method: method.rawValue, headers: headers)
        // Administrators name the nodes; the rules of downloads are for the URLs of clients.
        request.admitsAnyAddress = true
        // As much as the body of the response holds: both wait for the reader.
        request.windowBytes = RelayedResponse.bufferLimit
        request.timeouts = .init(connect: .seconds(5), idle: .seconds(60))
        guard slots.take() else {
            throw FileRelayError("this node already passes on \(slots.limit) files, as many as it can")
        }
        let relayed = RelayedResponse(isBodyWanted: method != .head, onEnd: slots.giveBack)
        let transfer = client.start(request, handler: relayed)
        relayed.cancels { transfer.cancel() }
        return try await relayed.response.get()
    }
}
