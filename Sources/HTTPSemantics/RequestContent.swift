import Formats

/// The method of a request. A GET requests a file that can be resumed. The other methods send a body, and the server
/// decides what to return.
public enum RequestMethod: String, Sendable, Codable, CaseIterable {
    case get = "GET"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
}

/// A request header that a client specified. Its value may be secret: fetchd stores and sends it, and never shows it.
public struct HeaderField: Sendable, Hashable, Codable {
    public var name: String
    public var value: String

    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// Whether the name suggests that the value is a credential. Such a value is never shown, and is encrypted in the database.
    public var isSecret: Bool {
        let name = name.lowercased()
        return ["auth", "cookie", "token", "secret", "key", "password", "credential"].contains { name.contains($0) }
    }

    /// Stands for a secret value in answers. A client that sends it back keeps the stored value.
    public static let placeholder = "[secret]"

    public var isRedacted: Bool { isSecret && value == Self.placeholder }

    public var redacted: HeaderField { isSecret ? HeaderField(name: name, value: Self.placeholder) : self }
}

public enum RequestBody: Sendable, Equatable, Codable {
    case text(String)
    /// The form fields, in the order in which the client specified them.
    case form([FormField])
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

    /// The number of bytes of the text, before it is encoded.
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
            case _ where byte.isASCIIAlphanumeric || "*-._".utf8.contains(byte): String(UnicodeScalar(byte))
            case UInt8(ascii: " "): "+"
            default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }.joined()
    }
}
