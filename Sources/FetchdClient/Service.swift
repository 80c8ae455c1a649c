import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The service at an address: builds requests, reads answers, and repeats requests that a restart of the service interrupted.
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

    /// - Parameter path: begins with `/v1/`. Its components need no percent-encoding.
    func request(
        _ method: String, _ path: String, query: [String: String] = [:], body: Data? = nil,
        headers: [String: String] = [:]
    ) throws(FetchdError) -> URLRequest {
        var components = URLComponents(string: address + path)
        if !query.isEmpty {
            components?.queryItems = query.map { URLQueryItem(name: $0.key, value: $0.value) }.sorted {
                $0.name < $1.name
            }
        }
        // A plus sign would be read as a space.
        let encoded = components?.percentEncodedQuery?.replacing("+", with: "%2B")
        components?.percentEncodedQuery = encoded
        guard let url = components?.url else { throw .invalid("\(address) is not the address of a service.") }
        // The service may send nothing for this time.
        var request = URLRequest(url: url, timeoutInterval: 60)
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
        _ method: String, _ path: String, query: [String: String] = [:], body: Data? = nil,
        headers: [String: String] = [:]
    ) async throws(FetchdError) -> ServiceResponse {
        let answer = try await transport.answer(
            to: request(method, path, query: query, body: body, headers: headers))
        guard answer.isSuccess || answer.status == 304 else { throw answer.refusal }
        return answer
    }

    /// Sends a request until the service answers it. Use it only for requests that can be repeated.
    /// - Throws: an error that is not temporary.
    func persist(
        _ method: String, _ path: String, query: [String: String] = [:], body: Data? = nil,
        headers: [String: String] = [:]
    ) async throws(FetchdError) -> ServiceResponse {
        var backoff = Backoff()
        while true {
            do throws(FetchdError) {
                return try await send(method, path, query: query, body: body, headers: headers)
            } catch  where error.isTemporary {
                try await backoff.pause()
            }
        }
    }

    /// Copies a finished file from the service. It repeats the copy until it is complete.
    /// - Throws: `refused` if the service no longer has the file.
    func copy(fileOf job: String, size: Int64, to location: URL) async throws(FetchdError) {
        var backoff = Backoff()
        while true {
            do throws(FetchdError) {
                let answer = try await transport.download(
                    request("GET", "/v1/jobs/\(job)/file", headers: ["Accept-Encoding": "identity"]), to: location)
                guard answer.isSuccess else { throw answer.refusal }
                guard Self.size(of: location) == size else { throw FetchdError.unreachable("the file is not complete") }
                return
            } catch  where error.isTemporary {
                try await backoff.pause()
            }
        }
    }

    private static func size(of file: URL) -> Int64? {
        let size = (try? FileManager.default.attributesOfItem(atPath: file.path))?[.size]
        return (size as? NSNumber)?.int64Value
    }
}

struct ServiceResponse: Sendable {
    let status: Int
    let entityTag: String?
    let body: Data

    var isSuccess: Bool { (200..<300).contains(status) }

    func decoded<Document: Decodable>(as type: Document.Type) throws(FetchdError) -> Document {
        do {
            return try Wire.decoder().decode(type, from: body)
        } catch {
            throw .unexpectedAnswer("\(error)")
        }
    }

    var refusal: FetchdError {
        guard let problem = try? Wire.decoder().decode(ProblemDocument.self, from: body) else {
            return status == 429 || status >= 500
                ? .refused(ServiceProblem(status: status, type: "about:blank", title: "", detail: "", pointer: nil))
                : .unexpectedAnswer("the status is \(status)")
        }
        if problem.status == 410, let first = problem.firstAvailable { return .eventsLost(firstAvailable: first) }
        return .refused(
            ServiceProblem(
                status: problem.status, type: problem.type, title: problem.title, detail: problem.detail ?? "",
                pointer: problem.pointer))
    }
}

private struct ProblemDocument: Decodable {
    let type: String
    let title: String
    let status: Int
    let detail: String?
    let pointer: String?
    let firstAvailable: Int64?
}

/// How documents of the service are read and written: snake_case names, and times of RFC 3339.
enum Wire {
    static func decoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .custom { decoder in
            let text = try decoder.singleValueContainer().decode(String.self)
            guard let date = date(text) else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "\(text) is not a time"))
            }
            return date
        }
        return decoder
    }

    static func encoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.dateEncodingStrategy = .iso8601
        // The bytes of a repeated request must be the same.
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    static func encoded(_ document: some Encodable) throws(FetchdError) -> Data {
        do {
            return try encoder().encode(document)
        } catch {
            throw .invalid("The value cannot be written as JSON: \(error)")
        }
    }

    private static func date(_ text: String) -> Date? {
        let withFraction = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        return (try? withFraction.parse(text)) ?? (try? Date.ISO8601FormatStyle().parse(text))
    }
}

/// The pauses between attempts to reach a service that does not answer: from a tenth of a second, doubled up to 5 s.
struct Backoff: Sendable {
    private static let first = Duration.milliseconds(100)
    private var next = Backoff.first

    mutating func pause() async throws(FetchdError) {
        let pause = next
        next = min(next * 2, .seconds(5))
        try await FetchdError.sleep(for: pause)
    }

    mutating func reset() { next = Self.first }
}
