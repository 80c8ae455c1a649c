import CPostgreSQL
import Glibc

/// The parameters of libpq by their keywords (PostgreSQL's documentation, "Parameter Key Words").
enum ConnectionParameters {
    /// The parameters that a URL names.
    ///
    /// - Throws: `targetInvalid`.
    static func parse(_ url: String) throws(PostgresError) -> [String: String] {
        var message: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(url, &message) else {
            defer { PQfreemem(message) }
            let text = message.map { String(cString: $0) } ?? "out of memory"
            throw .targetInvalid(why: Redaction.withoutQuotations(text))
        }
        defer { PQconninfoFree(options) }
        return values(of: options)
    }

    /// The parameters of the environment (`PG...`), of the service file that `PGSERVICE` names, and of libpq itself.
    static func defaults() -> [String: String] {
        guard let options = PQconndefaults() else { return [:] }
        defer { PQconninfoFree(options) }
        return values(of: options)
    }

    /// Calls `body` with the arrays that `PQconnectStartParams` takes.
    static func withArrays<Result>(
        _ parameters: [String: String],
        _ body: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<UnsafePointer<CChar>?>) -> Result
    ) -> Result {
        let pairs = parameters.map { (strdup($0.key), strdup($0.value)) }
        defer { for pair in pairs { free(pair.0); free(pair.1) } }
        let keywords = pairs.map { UnsafePointer($0.0) } + [nil]
        let values = pairs.map { UnsafePointer($0.1) } + [nil]
        return keywords.withUnsafeBufferPointer { keywords in
            values.withUnsafeBufferPointer { values in body(keywords.baseAddress!, values.baseAddress!) }
        }
    }

    /// The parameters that have a value.
    private static func values(of options: UnsafeMutablePointer<PQconninfoOption>) -> [String: String] {
        var values: [String: String] = [:]
        var next = options
        while let keyword = next.pointee.keyword {
            if let value = next.pointee.val, value.pointee != 0 {
                values[String(cString: keyword)] = String(cString: value)
            }
            next += 1
        }
        return values
    }
}
