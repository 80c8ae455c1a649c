/// A path of the API with its query, percent-encoded. A slash in a name is encoded, so a name is always one component.
struct RequestPath: Sendable {
    private var path: String
    private var query: [(name: String, value: String)] = []

    init(_ components: String...) {
        path = "/v1" + components.map { "/" + Self.encoded($0) }.joined()
    }

    private init(path: String) { self.path = path }

    /// Whether the service is ready. The path has no version, because it is for load balancers and container engines.
    static let readiness = RequestPath(path: "/readyz")

    /// Adds a query parameter, unless the value is nil.
    func asking(_ name: String, _ value: String?) -> RequestPath {
        guard let value else { return self }
        var path = self
        path.query.append((name, value))
        return path
    }

    func asking(_ name: String, _ value: Int64?) -> RequestPath { asking(name, value.map { String($0) }) }

    var text: String {
        guard !query.isEmpty else { return path }
        return path + "?" + query.map { "\($0.name)=\(Self.encoded($0.value))" }.joined(separator: "&")
    }

    /// Encodes all but the unreserved characters of RFC 3986, section 2.3. Also encodes the dots of `.` and `..`, which URL
    /// parsers would resolve.
    private static func encoded(_ text: String) -> String {
        if text == "." { return "%2E" }
        if text == ".." { return "%2E%2E" }
        let digits = Array("0123456789ABCDEF".unicodeScalars)
        var scalars = String.UnicodeScalarView()
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                scalars.append(Unicode.Scalar(byte))
            default:
                scalars.append("%")
                scalars.append(digits[Int(byte >> 4)])
                scalars.append(digits[Int(byte & 15)])
            }
        }
        return String(scalars)
    }
}
