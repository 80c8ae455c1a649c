import CurlClient
import Foundation
import Locks

/// The service as a client has it: an address, a token, and the public API. Everything that the commands do goes through
/// here.
struct RemoteService: Sendable {
    let address: ServiceAddress
    private let settings: ClientSettings
    let curl: CurlClient
    private let sight = Locked(false)
    /// How long an answer may take as a whole; nil leaves it to the request.
    private var patience: Duration?

    init(_ settings: ClientSettings, patience: Duration? = nil) throws(ClientError) {
        address = settings.address
        self.settings = settings
        self.patience = patience
        var options = CurlClient.Options()
        // A stream is to be seen as it comes.
        options.flushInterval = .milliseconds(20)
        do {
            curl = try CurlClient(options: options, name: "fetchd-client")
        } catch {
            throw ClientError(.broken, "libcurl cannot be used", "libcurl cannot be used: \(error).")
        }
    }

    /// It has answered before: when it is away now, it is expected back.
    var wasSeen: Bool { sight.withLock { $0 } }

    /// The same service, asked with less time.
    func limited(to patience: Duration) -> RemoteService {
        var service = self
        service.patience = patience
        return service
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
        sight.withLock { $0 = true }
        return Answer(status: response.status, headers: response.headers, body: response.body)
    }

    /// - Parameter idle: how long the service may be silent; nil: what is read is there at once, but pausing a large
    ///   session, or taking a large batch, takes its time.
    func request(
        _ method: String, _ path: RequestPath, _ body: [UInt8]? = nil, headers: [(name: String, value: String)] = [],
        idle: Duration? = nil
    ) -> TransferRequest {
        let idle = idle ?? (method == "GET" ? .seconds(15) : .seconds(120))
        var request = TransferRequest(
            url: address.baseURL + path.text, method: method, headers: headers, body: body,
            userAgent: "fetchd-client", timeouts: .init(connect: .seconds(10), idle: idle, total: patience))
        if body != nil { request.headers.append(("Content-Type", "application/json")) }
        request.credentials = settings.token.map { .bearer(token: $0) }
        request.tls.caFile = settings.caFile
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
        else {
            // RFC 9110, sections 15.6.3 to 15.6.5: that of a gateway whose server is away.
            return [502, 503, 504].contains(status)
                ? .unreachable(address, behindGateway: status)
                : .strange(address, "it answers \(status) without a problem document")
        }
        if status == 401 { return ClientError(refusal: problem, advice: settings.tokenAdvice, answer: status) }
        if status == 404, problem.detail?.contains("/v1/v1/") == true { return .pathTooMany(address) }
        return ClientError(refusal: problem, bytes: body, answer: status)
    }
}

extension ClientSettings {
    /// How this client is told the token that is wanted: the service cannot know.
    fileprivate var tokenAdvice: String {
        let file = Self.filePath()
        if isTokenWithheld {
            return
                "\(address) wants a token, and that in \(file) is for the address in it alone. Set FETCHD_TOKEN, or name the file with --token-file."
        }
        guard token == nil else {
            return "Check the token in FETCHD_TOKEN, --token-file or \(file): \(address) does not take it."
        }
        return
            "\(address) wants a token: set FETCHD_TOKEN, or put {\"url\": \"\(address)\", \"token\": \"...\"} into \(file)."
    }
}

extension ClientError {
    fileprivate static func pathTooMany(_ address: ServiceAddress) -> ClientError {
        ClientError(
            .misconfigured, "The address cannot be used",
            "The address \(address) has a path too many: leave out /v1, which the commands add themselves.")
    }
}
