import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The service at an address: builds requests, reads answers, and repeats requests that a restart of the service
/// interrupted.
struct Service: Sendable {
    private let address: String
    private let token: String?
    let transport = Transport()

    init(at address: URL, token: String?) {
        var text = address.absoluteString
        while text.hasSuffix("/") { text.removeLast() }
        self.address = text
        self.token = token
    }

    /// - Parameters:
    ///   - path: begins with `/v1/`. Its components need no percent-encoding.
    ///   - idleSeconds: the time in which the service may send nothing.
    func request(
        _ method: String, _ path: String, query: [URLQueryItem] = [], body: Data? = nil,
        headers: [String: String] = [:], idleSeconds: TimeInterval = 60
    ) throws(FetchdError) -> URLRequest {
        guard var components = URLComponents(string: address + path) else {
            throw .invalid("\(address) is not the address of a service.")
        }
        if !query.isEmpty { components.queryItems = query }
        // A plus sign would be read as a space.
        components.percentEncodedQuery = components.percentEncodedQuery?.replacing("+", with: "%2B")
        guard let url = components.url else { throw .invalid("\(address) is not the address of a service.") }
        var request = URLRequest(url: url, timeoutInterval: idleSeconds)
        request.httpMethod = method
        request.httpBody = body
        if body != nil { request.setValue("application/json", forHTTPHeaderField: "Content-Type") }
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }

    /// Sends a request once.
    /// - Throws: `refused` unless the status is 2xx or 304.
    func send(
        _ method: String, _ path: String, query: [URLQueryItem] = [], body: Data? = nil,
        headers: [String: String] = [:]
    ) async throws(FetchdError) -> Answer {
        let answer = try await transport.answer(
            to: request(method, path, query: query, body: body, headers: headers))
        guard answer.isSuccess || answer.status == 304 else { throw answer.refusal }
        return answer
    }

    /// Sends a request until the service answers it. Use it only for requests that can be repeated.
    /// - Throws: an error that is not temporary.
    func persist(
        _ method: String, _ path: String, query: [URLQueryItem] = [], body: Data? = nil,
        headers: [String: String] = [:]
    ) async throws(FetchdError) -> Answer {
        var backoff = Backoff()
        while true {
            do throws(FetchdError) {
                return try await send(method, path, query: query, body: body, headers: headers)
            } catch  where error.isTemporary {
                try await backoff.pause()
            }
        }
    }
}
