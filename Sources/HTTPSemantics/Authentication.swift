import Formats

/// An authentication that a server accepts (RFC 9110, section 11.6.1): its scheme and realm.
public struct Challenge: Sendable, Equatable, Codable {
    /// The name in lowercase: `basic`, `digest`, `bearer`, ...
    public var scheme: String
    /// The protected area, in the server's words.
    public var realm: String?
    /// The hash function of a Digest challenge, as it was sent (RFC 7616, section 3.3); nil if there is none.
    public var algorithm: String?
}

extension Challenge {
    /// Reads the value of `WWW-Authenticate` or `Proxy-Authenticate`: its challenges in order; empty if it does not begin
    /// with a scheme.
    public static func all(in header: String) -> [Challenge] {
        var groups: [[Substring]] = []
        for element in elements(of: header) {
            if !groups.isEmpty, isParameter(element) {
                groups[groups.count - 1].append(element)
            } else {
                groups.append([element])
            }
        }
        guard let first = groups.first.flatMap(Challenge.init(elements:)) else { return [] }
        return [first] + groups.dropFirst().compactMap(Challenge.init(elements:))
    }

    /// - Parameter elements: a scheme with its first parameter or token, and then the other parameters.
    private init?(elements: [Substring]) {
        guard let first = elements.first else { return nil }
        let scheme = first.prefix { !$0.isHTTPSpace }
        let rest = first.dropFirst(scheme.count).trimming(\.isHTTPSpace)
        guard !scheme.contains(where: { "=\"".contains($0) }), rest.first != "=" else { return nil }
        let parameters = [rest] + elements.dropFirst()
        self.init(
            scheme: scheme.lowercased(), realm: Self.parameter("realm", in: parameters),
            algorithm: Self.parameter("algorithm", in: parameters))
    }

    /// The nonempty elements between commas. Commas in quotes do not separate elements.
    private static func elements(of header: String) -> [Substring] {
        var (isQuoted, isEscaped) = (false, false)
        return header.split { character in
            defer { isEscaped = isQuoted && character == "\\" && !isEscaped }
            if character == "\"", !isEscaped { isQuoted.toggle() }
            return character == "," && !isQuoted
        }.map { $0.trimming(\.isHTTPSpace) }.filter { !$0.isEmpty }
    }

    /// Whether the element is `name=value`. Any other element begins another challenge, which has its own realm.
    private static func isParameter(_ element: Substring) -> Bool {
        guard let equals = element.firstIndex(of: "=") else { return false }
        return !element[..<equals].trimming(\.isHTTPSpace).contains(where: \.isHTTPSpace)
    }

    private static func parameter(_ name: String, in parameters: [Substring]) -> String? {
        for parameter in parameters {
            guard let equals = parameter.firstIndex(of: "="),
                parameter[..<equals].trimming(\.isHTTPSpace).equalsIgnoringASCIICase(name)
            else { continue }
            let value = parameter[equals...].dropFirst().trimming(\.isHTTPSpace)
            return value.first == "\"" ? unquoted(value.dropFirst()) : String(value)
        }
        return nil
    }

    /// The content of a quoted string up to its closing quote (RFC 9110, section 5.6.4).
    private static func unquoted(_ text: Substring) -> String {
        var (content, rest) = ("", text)
        while let character = rest.popFirst(), character != "\"" {
            if let next = character == "\\" ? rest.popFirst() : character { content.append(next) }
        }
        return content
    }
}

/// The user name and password, or the token, for the server. They are secret: fetchd stores them, sends them only to
/// the job's own origin, and never shows them.
public enum Credentials: Sendable, Equatable, Codable {
    case basic(username: String, password: String)
    case digest(username: String, password: String)
    case bearer(token: String)

    public var scheme: String {
        switch self {
        case .basic: "basic"
        case .digest: "digest"
        case .bearer: "bearer"
        }
    }
}

extension Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "\(scheme) credentials" }
    public var debugDescription: String { description }
    /// Without it, `dump` and test libraries would show the secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
