import Formats
import HTTPServer

/// The JSON body of a request.
enum JSONBody {
    /// Maximum size of a body in bytes, except for a batch of jobs.
    static let limit = 1 << 20
    static let batchLimit = 32 << 20

    static func parse(_ bytes: [UInt8]) throws(Problem) -> JSON {
        do throws(JSONFault) {
            return try JSON(parsing: bytes)
        } catch {
            throw Problem(.malformedJSON, "The body is not well-formed JSON. \(error).")
        }
    }
}
