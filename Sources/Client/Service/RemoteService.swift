import CurlClient
import Foundation

/// The service as a client has it: an address, a token, and the public API. Everything that the commands do goes through
/// here.
struct RemoteService: Sendable {
    let address: ServiceAddress
    private let token: String?
    private let caFile: String?
    let curl: CurlClient

    init(_ settings: ClientSettings) throws(ClientError) {
        address = settings.address
        token = settings.token
        caFile = settings.caFile
        var options = CurlClient.Options()
        // A stream is to be seen as it comes.
        options.flushInterval = .milliseconds(20)
        do {
            curl = try CurlClient(options: options, name: "fetchd-client")
        } catch {
            throw ClientError(.broken, "libcurl cannot be used", "libcurl cannot be used: \(error).")
        }
    }

    /// No answer of the API is larger, not by far; a file comes as a stream.
    private static let bodyLimit = 1 << 30

    /// Sends a request and waits for an answer that is a success; any other is thrown.
    ///
    /// No redirect is followed: the token is for this address alone.
    func send(
        _ method: String, _ path: RequestPath, _ body: [UInt8]? = nil, headers: [(name: String, value: String)] = []
    ) async throws(ClientError) -> Answer {
        let request = request(method, path, body, headers: headers)
        let response: ExchangeResponse
        do {
            response = try await curl.exchange(request, bodyLimit: Self.bodyLimit)
        } catch {
            throw .unreachable(address, error)
        }
        guard (200..<300).contains(response.status) else {
            throw failure(response.status, response.headers, response.body)
        }
        return Answer(status: response.status, headers: response.headers, body: response.body)
    }

    /// - Parameter idle: how long the service may be silent. Pausing a large session takes its time.
    func request(
        _ method: String, _ path: RequestPath, _ body: [UInt8]? = nil, headers: [(name: String, value: String)] = [],
        idle: Duration = .seconds(120)
    ) -> TransferRequest {
        var request = TransferRequest(
            url: address.baseURL + path.text, method: method, headers: headers, body: body,
            userAgent: "fetchd-client", timeouts: .init(connect: .seconds(10), idle: idle))
        if body != nil { request.headers.append(("Content-Type", "application/json")) }
        request.credentials = token.map { .bearer(token: $0) }
        request.tls.caFile = caFile
        return request
    }

    /// What an answer that is no success means, in words.
    func failure(
        _ status: Int, _ headers: [(name: String, value: String)], _ body: [UInt8]
    ) -> ClientError {
        if (300..<400).contains(status) {
            let target = headers.first { $0.name.lowercased() == "location" }?.value
            return .strange(address, "it answers \(status)\(target.map { " and points to \(Printable($0))" } ?? "")")
        }
        let type = headers.first { $0.name.lowercased() == "content-type" }?.value ?? ""
        guard type.hasPrefix("application/problem+json"),
            let problem = try? JSONText(body).decoded(ProblemDocument.self)
        else { return .strange(address, "it answers \(status) without a problem document") }
        return ClientError(refusal: problem, advice(status), bytes: body, answer: status)
    }

    /// What the service cannot know: how this client is told.
    private func advice(_ status: Int) -> String? {
        switch status {
        case 401 where token == nil:
            "\(address) wants a token: set FETCHD_TOKEN, or put {\"token\": \"...\"} into \(ClientSettings.filePath())."
        case 401: "Check the token in FETCHD_TOKEN, --token-file or \(ClientSettings.filePath())."
        default: nil
        }
    }
}
