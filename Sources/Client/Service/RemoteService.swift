import Base
import CurlClient
import Formats
import Foundation

/// The client of the public API. All requests of the commands go through it.
struct RemoteService: Sendable {
    let address: ServiceAddress
    private let settings: ClientSettings
    let curl: CurlClient
    private let answered = Locked(false)
    /// The total timeout of a request; nil: no total timeout.
    private var patience: Duration?

    init(_ settings: ClientSettings, patience: Duration? = nil) throws(ClientError) {
        address = settings.address
        self.settings = settings
        self.patience = patience
        var options = CurlClient.Options()
        // Events of a stream are passed on quickly.
        options.flushInterval = .milliseconds(20)
        do {
            curl = try CurlClient(options: options, name: "fetchd-client")
        } catch {
            throw ClientError(.broken, "libcurl cannot be used", "libcurl cannot be used: \(error).")
        }
    }

    /// If the service is unavailable now, it is probably restarting.
    var hasAnswered: Bool { answered.withLock { $0 } }

    func limited(to patience: Duration) -> RemoteService {
        var service = self
        service.patience = patience
        return service
    }

    /// Far larger than any document of the API. Files are read as a stream.
    private static let bodyLimit = 1 << 30

    /// Sends a request. It does not follow redirects, because the token is only for this address.
    ///
    /// - Throws: for any response that is not a success.
    func send(
        _ method: String, _ path: RequestPath, _ body: JSON? = nil, headers: [(name: String, value: String)] = []
    ) async throws(ClientError) -> Response {
        try await send(request(method, path, body?.bytes, headers: headers))
    }

    /// Sends a list from the position of its file on. The service answers when it has imported the list.
    func send(_ list: Descriptor, to path: RequestPath) async throws(ClientError) -> Response {
        var request = request("POST", path, idle: .seconds(3600))
        request.headers.append(("Content-Type", "application/octet-stream"))
        request.bodyFile = list
        return try await send(request)
    }

    func send(_ request: TransferRequest) async throws(ClientError) -> Response {
        let response: ExchangeResponse
        do {
            response = try await curl.exchange(request, bodyLimit: Self.bodyLimit)
        } catch {
            throw .unreachable(address, error)
        }
        guard (200..<300).contains(response.status) else {
            throw failure(response.status, response.headers, response.body)
        }
        answered.withLock { $0 = true }
        return Response(status: response.status, body: response.body)
    }

    /// - Parameter idle: the timeout without any bytes; nil: short for GET, long for other methods, because pausing a large
    ///   session or adding a large batch can take a while.
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
        request.unixSocket = address.unixSocket
        return request
    }

    func failure(_ status: Int, _ headers: [(name: String, value: String)], _ body: [UInt8]) -> ClientError {
        if (300..<400).contains(status) {
            let target = headers.first { $0.name.lowercased() == "location" }?.value
            return .notFetchd(address, "it answers \(status)\(target.map { " and points to \(Printable($0))" } ?? "")")
        }
        let type = headers.first { $0.name.lowercased() == "content-type" }?.value ?? ""
        guard type.hasPrefix("application/problem+json"),
            let problem = try? JSON(document: body).decoded(ProblemDocument.self)
        else {
            // These are the statuses of a gateway whose server is unavailable (RFC 9110, sections 15.6.3 to 15.6.5).
            return [502, 503, 504].contains(status)
                ? .unreachable(address, behindGateway: status)
                : .notFetchd(address, "it answers \(status) without a problem document")
        }
        if status == 401 { return ClientError(refusal: problem, advice: settings.tokenAdvice, httpStatus: status) }
        if status == 404, problem.detail?.contains("/v1/v1/") == true { return .pathTooMany(address) }
        return ClientError(refusal: problem, bytes: body, httpStatus: status)
    }
}

extension ClientSettings {
    /// How to give this client the token. It replaces the service's advice, which does not know these options.
    fileprivate var tokenAdvice: String {
        let file = Self.filePath()
        if isTokenWithheld {
            return
                "\(address) requires a token. The token in \(file) is only for the address in that file. Set FETCHD_TOKEN, or use --token-file."
        }
        guard token == nil else {
            return "Check the token in FETCHD_TOKEN, --token-file or \(file): \(address) does not accept it."
        }
        return
            "\(address) requires a token. Set FETCHD_TOKEN, or write {\"url\": \"\(address)\", \"token\": \"...\"} to \(file)."
    }
}

extension ClientError {
    fileprivate static func pathTooMany(_ address: ServiceAddress) -> ClientError {
        ClientError(
            .misconfigured, "The address cannot be used",
            "The address \(address) must not contain the API path: leave out /v1. The commands add it.")
    }
}

/// A path of the API with its query, percent-encoded. A slash in a name is encoded, so a name is always one component.
struct RequestPath: Sendable {
    private var path: String
    private var query: [(name: String, value: String)] = []

    init(_ components: String...) { path = "/v1" + components.map { "/" + Self.encoded($0) }.joined() }

    private init(path: String) { self.path = path }

    /// Whether the service is ready. The path has no version, because it is for load balancers and container engines.
    static let readiness = RequestPath(path: "/readyz")

    /// Adds a query parameter, unless the value is nil.
    func query(_ name: String, _ value: String?) -> RequestPath {
        guard let value else { return self }
        var path = self
        path.query.append((name, value))
        return path
    }

    func query(_ name: String, _ value: Int64?) -> RequestPath { query(name, value.map { String($0) }) }

    var text: String {
        guard !query.isEmpty else { return path }
        return path + "?" + query.map { "\($0.name)=\(Self.encoded($0.value))" }.joined(separator: "&")
    }

    /// Encodes all but the unreserved characters of RFC 3986, section 2.3. Also encodes the dots of `.` and `..`, which URL
    /// parsers would resolve.
    private static func encoded(_ text: String) -> String {
        if text == "." { return "%2E" }
        if text == ".." { return "%2E%2E" }
        // A text of Swift is valid Unicode, so it can be encoded.
        return text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? text
    }

    private static let unreserved = CharacterSet(
        charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
}
