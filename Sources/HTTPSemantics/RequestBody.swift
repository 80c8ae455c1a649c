/// The body of a request whose method allows one.
public enum RequestBody: Sendable, Equatable, Codable {
    case text(String)
    /// The form fields, in the order in which the client specified them.
    case form([FormField])
    /// JSON text.
    case json(String)

    public struct FormField: Sendable, Equatable, Codable {
        public var name: String
        public var value: String

        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Sent unless the job's headers contain a content type.
    public var contentType: String {
        switch self {
        case .text: "text/plain; charset=utf-8"
        case .form: "application/x-www-form-urlencoded"
        case .json: "application/json"
        }
    }

    /// Bytes of the text, before it is encoded.
    public var size: Int {
        switch self {
        case .text(let text), .json(let text): text.utf8.count
        case .form(let fields): fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        }
    }

    public var bytes: [UInt8] {
        switch self {
        case .text(let text), .json(let text): Array(text.utf8)
        case .form(let fields):
            Array(fields.map { "\(Self.encoded($0.name))=\(Self.encoded($0.value))" }.joined(separator: "&").utf8)
        }
    }

    /// Encodes text as browsers do in forms (url.spec.whatwg.org, section 5.2).
    private static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "*"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"):
                String(UnicodeScalar(byte))
            case UInt8(ascii: " "): "+"
            default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }.joined()
    }
}
