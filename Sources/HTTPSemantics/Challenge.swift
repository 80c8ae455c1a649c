/// The authentication that a server demands (RFC 9110, section 11.6.1): the first scheme in the header, and its realm.
public struct Challenge: Sendable, Equatable, Codable {
    /// Lowercase: `basic`, `digest`, `bearer`, ...
    public var scheme: String
    /// The protected area, in the server's words.
    public var realm: String?

    public init(scheme: String, realm: String?) {
        self.scheme = scheme
        self.realm = realm
    }

    /// Reads the value of `WWW-Authenticate` or `Proxy-Authenticate`; nil if it contains no scheme.
    public init?(header: String) {
        let elements = Self.elements(of: header)
        guard let first = elements.first else { return nil }
        let scheme = first.prefix { !Self.isSpace($0) }
        let rest = Self.trimmed(first.dropFirst(scheme.count))
        guard !scheme.contains(where: { "=\"".contains($0) }), rest.first != "=" else { return nil }
        self.init(
            scheme: scheme.lowercased(),
            realm: Self.realm(in: [rest] + elements.dropFirst().prefix(while: Self.isParameter)))
    }

    /// The nonempty elements between commas. Commas in quotes do not separate elements.
    private static func elements(of header: String) -> [Substring] {
        var (isQuoted, isEscaped) = (false, false)
        return header.split { character in
            defer { isEscaped = isQuoted && character == "\\" && !isEscaped }
            if character == "\"", !isEscaped { isQuoted.toggle() }
            return character == "," && !isQuoted
        }.map(trimmed).filter { !$0.isEmpty }
    }

    /// Whether the element is `name=value`. Any other element begins another challenge, which has its own realm.
    private static func isParameter(_ element: Substring) -> Bool {
        guard let equals = element.firstIndex(of: "=") else { return false }
        return !trimmed(element[..<equals]).contains(where: isSpace)
    }

    private static func realm(in parameters: [Substring]) -> String? {
        for parameter in parameters {
            guard let equals = parameter.firstIndex(of: "="), trimmed(parameter[..<equals]).lowercased() == "realm"
            else { continue }
            let value = trimmed(parameter[equals...].dropFirst())
            return value.first == "\"" ? unquoted(value.dropFirst()) : String(value)
        }
        return nil
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let text = text.drop(while: isSpace)
        guard let last = text.lastIndex(where: { !isSpace($0) }) else { return "" }
        return text[...last]
    }

    private static func isSpace(_ character: Character) -> Bool { character == " " || character == "\t" }

    /// The content of a quoted string up to its closing quote (RFC 9110, section 5.6.4).
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
