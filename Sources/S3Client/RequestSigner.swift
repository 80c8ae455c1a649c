import Base
import Formats
import Foundation

/// A request to S3-compatible storage, before it is signed.
public struct StorageRequest: Sendable, Equatable {
    public var method: String
    public var endpoint: Endpoint
    /// Begins with `/`. Not percent-encoded: `/bucket/a file.bin`.
    public var path: String
    /// Not percent-encoded. A name without a value, such as `uploads`, has an empty one.
    public var query: [Field]
    /// Without `Host`, `X-Amz-Date`, `X-Amz-Content-SHA256` and `X-Amz-Security-Token`, which the signature adds.
    public var headers: [Field]

    public struct Field: Sendable, Equatable {
        public var name, value: String

        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    public init(_ method: String, _ path: String, at endpoint: Endpoint, query: [Field] = [], headers: [Field] = []) {
        self.method = method
        self.path = path
        self.endpoint = endpoint
        self.query = query
        self.headers = headers
    }

    /// With the query in the order of the signature.
    public var url: String {
        let query = canonicalQuery
        return "\(endpoint)\(canonicalPath)" + (query.isEmpty ? "" : "?\(query)")
    }

    /// S3 encodes each character of a path once, and keeps slashes, also double ones.
    var canonicalPath: String { path.isEmpty ? "/" : path.uriEncoded(keeping: "/") }

    /// Sorted by the encoded names, and by the encoded values of equal names.
    var canonicalQuery: String {
        query.map { (name: $0.name.uriEncoded(), value: $0.value.uriEncoded()) }
            .sorted { ($0.name, $0.value) < ($1.name, $1.value) }
            .map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    }
}

/// Where the requests go: `https://s3.eu-central-1.amazonaws.com`, `http://127.0.0.1:9000`.
public struct Endpoint: Sendable, Equatable, CustomStringConvertible {
    public var scheme: String
    /// The host and, if it is not that of the scheme, the port, as in the header `Host`.
    public var authority: String

    public init(scheme: String = "https", authority: String) {
        self.scheme = scheme
        self.authority = authority
    }

    public var description: String { "\(scheme)://\(authority)" }
}

/// Signs requests with AWS Signature Version 4, as S3 reads it ("Authenticating Requests (AWS Signature Version 4)", Amazon S3 API
/// Reference). libcurl's own signature is not used: version 7.88.1 signs queries and some paths wrong.
public struct RequestSigner: Sendable {
    private let key: AccessKey
    private let region: String

    public init(_ key: AccessKey, region: String) {
        self.key = key
        self.region = region
    }

    /// The headers that the request needs besides its own.
    ///
    /// - Parameter payload: the SHA-256 of the body. The server refuses another body.
    public func headers(for request: StorageRequest, payload: [UInt8], at time: Date) -> [StorageRequest.Field] {
        let moment = Moment(time)
        let hash = payload.hexadecimal
        var added = [
            StorageRequest.Field("X-Amz-Content-SHA256", hash), StorageRequest.Field("X-Amz-Date", moment.time),
        ]
        if let token = key.sessionToken { added.append(.init("X-Amz-Security-Token", token)) }
        let signed = SignedHeaders(request.headers + added, host: request.endpoint.authority)
        let signature = signature(of: request, signed, payload: hash, at: moment)
        let authorization =
            "\(Self.algorithm) Credential=\(key.id)/\(scope(at: moment)), SignedHeaders=\(signed.names), Signature=\(signature)"
        return added + [.init("Authorization", authorization)]
    }

    /// A URL with which others can send the request for a time, without the key. Its body is not signed.
    ///
    /// - Parameter seconds: 1 to 604,800.
    public func presignedURL(for request: StorageRequest, validFor seconds: Int, at time: Date) -> String {
        let moment = Moment(time)
        let signed = SignedHeaders(request.headers, host: request.endpoint.authority)
        var request = request
        request.query += [
            .init("X-Amz-Algorithm", Self.algorithm), .init("X-Amz-Credential", "\(key.id)/\(scope(at: moment))"),
            .init("X-Amz-Date", moment.time), .init("X-Amz-Expires", String(seconds)),
            .init("X-Amz-SignedHeaders", signed.names),
        ]
        if let token = key.sessionToken { request.query.append(.init("X-Amz-Security-Token", token)) }
        let signature = signature(of: request, signed, payload: "UNSIGNED-PAYLOAD", at: moment)
        return "\(request.url)&X-Amz-Signature=\(signature)"
    }

    private static let algorithm = "AWS4-HMAC-SHA256"

    private func scope(at moment: Moment) -> String { "\(moment.date)/\(region)/s3/aws4_request" }

    private func signature(
        of request: StorageRequest, _ headers: SignedHeaders, payload: String, at moment: Moment
    ) -> String {
        let canonical = [
            request.method, request.canonicalPath, request.canonicalQuery, headers.lines, headers.names, payload,
        ].joined(separator: "\n")
        let hash = HashFunction.sha256.hash(Array(canonical.utf8)).hexadecimal
        let text = [Self.algorithm, moment.time, scope(at: moment), hash].joined(separator: "\n")
        let signingKey = [moment.date, region, "s3", "aws4_request"].reduce(Array("AWS4\(key.secret)".utf8)) {
            MessageAuthentication.hmacSHA256(Array($1.utf8), key: $0)
        }
        return MessageAuthentication.hmacSHA256(Array(text.utf8), key: signingKey).hexadecimal
    }

    /// All headers of the request, with the host. The signature covers each of them, so a proxy cannot change one.
    private struct SignedHeaders {
        /// Sorted, separated by semicolons.
        let names: String
        /// A line for each header, and an empty one.
        let lines: String

        init(_ headers: [StorageRequest.Field], host: String) {
            var values: [String: [String]] = ["host": [host]]
            for header in headers { values[header.name.lowercased(), default: []].append(Self.trimmed(header.value)) }
            let sorted = values.sorted { $0.key < $1.key }
            names = sorted.map(\.key).joined(separator: ";")
            lines = sorted.map { "\($0.key):\($0.value.joined(separator: ","))\n" }.joined()
        }

        /// Several blanks count as one.
        private static func trimmed(_ value: String) -> String {
            value.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        }
    }

    private struct Moment {
        /// `20261128T212700Z`
        let time: String
        var date: String { String(time.prefix(8)) }

        init(_ time: Date) {
            let parts = Calendar.gregorianUTC.dateComponents(
                [.year, .month, .day, .hour, .minute, .second], from: time)
            func digits(_ value: Int?, _ count: Int) -> String {
                let text = String(value ?? 0)
                return String(repeating: "0", count: max(0, count - text.count)) + text
            }
            self.time =
                digits(parts.year, 4) + digits(parts.month, 2) + digits(parts.day, 2) + "T" + digits(parts.hour, 2)
                + digits(parts.minute, 2) + digits(parts.second, 2) + "Z"
        }
    }
}

extension Calendar {
    fileprivate static let gregorianUTC: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()
}

extension String {
    /// Percent-encodes every byte but the unreserved characters of RFC 3986, with upper-case digits, as signatures demand.
    fileprivate func uriEncoded(keeping kept: String = "") -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        let isKept = { (byte: UInt8) in byte.isUnreserved || kept.utf8.contains(byte) }
        if utf8.allSatisfy(isKept) { return self }
        var encoded: [UInt8] = []
        for byte in utf8 {
            if isKept(byte) {
                encoded.append(byte)
            } else {
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate var isUnreserved: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
