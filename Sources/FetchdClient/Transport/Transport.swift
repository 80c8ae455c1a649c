import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends requests with `URLSession`. One attempt each: callers decide what to repeat.
struct Transport: Sendable {
    private let session = URLSession(configuration: .ephemeral)

    func answer(to request: URLRequest) async throws(FetchdError) -> Answer {
        do {
            // A cancelled Swift task does not cancel the request: see `ByteStream`. Requests are short.
            return try await withCheckedThrowingContinuation { continuation in
                let task = session.dataTask(with: request) { body, response, error in
                    continuation.resume(with: Result { try Self.answer(body, response, error) })
                }
                task.resume()
            }
        } catch {
            throw Self.failure(error)
        }
    }

    private static func answer(_ body: Data?, _ response: URLResponse?, _ error: (any Error)?) throws -> Answer {
        if let error { throw error }
        guard let head = response as? HTTPURLResponse else { throw FetchdError.unexpectedAnswer("no HTTP") }
        return Answer(status: head.statusCode, entityTag: head.value(forHTTPHeaderField: "ETag"), body: body ?? Data())
    }

    /// Stores the body of a 200 as a file, which appears when it is complete. The answer has no body then.
    func download(_ request: URLRequest, to file: URL) async throws(FetchdError) -> Answer {
        do {
            return try await withCheckedThrowingContinuation { continuation in
                // The temporary file exists only until the handler returns.
                let task = session.downloadTask(with: request) { location, response, error in
                    continuation.resume(with: Result { try Self.keep(location, response, error, as: file) })
                }
                task.resume()
            }
        } catch {
            throw Self.failure(error)
        }
    }

    private static func keep(
        _ location: URL?, _ response: URLResponse?, _ error: (any Error)?, as file: URL
    ) throws -> Answer {
        if let error { throw error }
        guard let location, let head = response as? HTTPURLResponse else {
            throw FetchdError.unexpectedAnswer("no HTTP")
        }
        guard head.statusCode == 200 else {
            return Answer(status: head.statusCode, entityTag: nil, body: try Data(contentsOf: location))
        }
        try? FileManager.default.removeItem(at: file)
        do {
            try FileManager.default.moveItem(at: location, to: file)
        } catch {
            throw FetchdError.storage("\(error)")
        }
        return Answer(status: 200, entityTag: nil, body: Data())
    }

    static func failure(_ error: any Error) -> FetchdError {
        if let error = error as? FetchdError { return error }
        if error is CancellationError { return .cancelled }
        if (error as? URLError)?.code == .cancelled { return .cancelled }
        return .unreachable(error.localizedDescription)
    }
}
