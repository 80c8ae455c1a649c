import Base
import CurlClient
import Formats

/// A response of the service.
public struct APIAnswer: Sendable {
    public let status: Int
    public let headers: [(name: String, value: String)]
    public let body: [UInt8]

    public func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// `null` if the body is no JSON.
    public var json: JSON { (try? JSON(parsing: body)) ?? .null }
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The body without its content coding; as it came if that is no gzip.
    public var decodedBody: [UInt8] {
        guard header("Content-Encoding") == "gzip" else { return body }
        let decoder = InflatingDecoder(.gzip)
        var plain: [UInt8] = []
        try? body.withUnsafeBytes { bytes in
            try decoder.decode(bytes) {
                plain += $0
                return true
            }
        }
        return plain
    }

    /// The last component of a problem's `type`, and the pointer to its place in the request body.
    public var problem: Problem? {
        guard header("Content-Type") == "application/problem+json", let type = json["type"].string,
            type.hasPrefix("/problems/")
        else { return nil }
        return Problem(kind: String(type.dropFirst("/problems/".count)), pointer: json["pointer"].string)
    }

    public struct Problem: Sendable, Equatable {
        public let kind: String
        public let pointer: String?

        public init(kind: String, pointer: String? = nil) {
            self.kind = kind
            self.pointer = pointer
        }
    }
}

extension APIAnswer: CustomStringConvertible {
    public var description: String { "\(status) \(text)" }
}
