import Downloads
import HTTPServer

/// The JSON body of a request.
enum JSONBody {
    /// Bytes of a body, but for a batch of jobs.
    static let limit = 1 << 20
    static let batchLimit = 32 << 20

    static func parse(_ bytes: [UInt8]) throws(Problem) -> JSON {
        do {
            return try JSON(parsing: bytes)
        } catch let error as DecodingError {
            throw Problem(.malformedJSON, "The body is not well-formed JSON: \(reason(of: error))")
        } catch {
            throw Problem(.malformedJSON, "The body is not well-formed JSON.")
        }
    }

    private static func reason(of error: DecodingError) -> String {
        guard case .dataCorrupted(let context) = error else { return "it is nested too deeply." }
        return context.underlyingError.map { "\($0)" } ?? context.debugDescription
    }
}
