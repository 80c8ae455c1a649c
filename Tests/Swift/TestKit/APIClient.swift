import CurlClient
import Formats

/// The API as a client sees it: JSON in, JSON out, without interpretation. With `FETCHD_EXCHANGES` set, each exchange
/// is recorded for comparison with openapi.yaml.
public struct APIClient: Sendable {
    public let baseURL: String
    /// The token of every request.
    public var token: String?

    private static let curl = try! CurlClient(name: "api-client")
    private let record: ExchangeRecord?

    /// - Parameter isRecorded: false if the other end is not fetchd.
    public init(baseURL: String, token: String? = nil, isRecorded: Bool = true) {
        self.baseURL = baseURL
        self.token = token
        record = isRecorded ? ExchangeRecord.shared : nil
    }

    /// - Parameter body: sent as `application/json`, unless a header says otherwise.
    public func send(
        _ method: String, _ path: String, bytes body: [UInt8]?, headers: [(name: String, value: String)] = []
    ) async throws -> APIAnswer {
        var headers = headers
        func add(_ name: String, _ value: String) {
            if !headers.contains(where: { $0.name.lowercased() == name.lowercased() }) { headers.append((name, value)) }
        }
        if body != nil { add("Content-Type", "application/json") }
        if let token { add("Authorization", "Bearer \(token)") }
        let request = TransferRequest(
            url: baseURL + path, method: method, headers: headers, body: body,
            timeouts: .init(connect: .patience, idle: .patience, total: .patience))
        let response = try await Self.curl.exchange(request, bodyLimit: 1 << 30)
        let answer = APIAnswer(status: response.status, headers: response.headers, body: response.body)
        record?.add(method, path, headers, body, answer)
        return answer
    }

    public func send(
        _ method: String, _ path: String, _ body: JSON? = nil, headers: [(name: String, value: String)] = []
    ) async throws -> APIAnswer {
        try await send(method, path, bytes: body?.bytes, headers: headers)
    }

    public func get(_ path: String, headers: [(name: String, value: String)] = []) async throws -> APIAnswer {
        try await send("GET", path, headers: headers)
    }

    public func post(_ path: String, _ body: JSON? = nil) async throws -> APIAnswer {
        try await send("POST", path, body)
    }

    public func put(_ path: String, _ body: JSON? = nil) async throws -> APIAnswer {
        try await send("PUT", path, body)
    }

    public func delete(_ path: String) async throws -> APIAnswer {
        try await send("DELETE", path)
    }
}

/// A response that the test did not expect.
public struct UnexpectedAnswer: Error, CustomStringConvertible {
    public let description: String

    init(_ request: String, _ answer: APIAnswer) { description = "\(request) answered \(answer)" }
}
