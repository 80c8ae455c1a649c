import Foundation

/// How a server wants to be told who asks (RFC 9110, section 11.6.1): the first scheme it names, and its realm.
public struct Challenge: Sendable, Equatable, Codable {
    /// Lowercase: `basic`, `digest`, `bearer`, ...
    public var scheme: String
    /// What the credentials are for, in the server's words.
    public var realm: String?

    public init(scheme: String, realm: String?) {
        self.scheme = scheme
        self.realm = realm
    }

    /// From the value of `WWW-Authenticate` or `Proxy-Authenticate`; nil when it names no scheme.
    public init?(header: String) {
        let scheme = header.drop { $0 == " " || $0 == "," }.prefix { $0 != " " && $0 != "," }
        guard !scheme.isEmpty, !scheme.contains("=") else { return nil }
        self.init(scheme: scheme.lowercased(), realm: Self.realm(in: header))
    }

    private static func realm(in header: String) -> String? {
        guard let name = header.range(of: "realm=", options: .caseInsensitive) else { return nil }
        let value = header[name.upperBound...]
        guard value.first == "\"" else { return String(value.prefix { $0 != "," && $0 != " " }) }
        return unquoted(value.dropFirst())
    }

    /// A quoted string's content up to its closing quote (RFC 9110, section 5.6.4).
    private static func unquoted(_ text: Substring) -> String {
        var content = ""
        var isEscaped = false
        for character in text {
            if isEscaped {
                content.append(character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                return content
            } else {
                content.append(character)
            }
        }
        return content
    }
}
