import Formats
import Foundation

/// A link of a response to another resource: the `Link` field (RFC 8288).
public struct WebLink: Sendable, Equatable {
    /// A URL, or a reference that is relative to the URL of the response.
    public var target: String
    /// The parameters. Names are in lower case; of repeated ones, the first counts.
    public var parameters: [String: String]

    /// The relations, in lower case.
    public var relations: [String] { (parameters["rel"] ?? "").lowercased().split(separator: " ").map(String.init) }

    public init(target: String, parameters: [String: String]) {
        self.target = target
        self.parameters = parameters
    }

    /// In bytes, of all lines together. The rest is ignored.
    static let longest = 65_536

    /// Reads the lines of the field (RFC 8288, appendix B.2). After an error, the rest of that line is ignored. Links of another
    /// resource than the response (`anchor`) are left out.
    public static func links(_ headers: [(name: String, value: String)]) -> [WebLink] {
        var room = longest
        return headers.values(of: "Link").flatMap { line -> [WebLink] in
            room -= line.utf8.count
            guard room >= 0 else { return [] }
            var (rest, links): (Substring, [WebLink]) = (line[...], [])
            while let link = next(&rest) { links.append(link) }
            return links.filter { $0.parameters["anchor"] == nil }
        }
    }

    private static func next(_ rest: inout Substring) -> WebLink? {
        rest = rest.drop { $0 == " " || $0 == "\t" || $0 == "," }
        guard rest.first == "<", let end = rest.firstIndex(of: ">") else { return nil }
        let target = String(rest.dropFirst().prefix { $0 != ">" }).trimmingHTTPSpace
        rest = rest[rest.index(after: end)...]
        var parameters: [String: String] = [:]
        while true {
            rest = rest.drop { $0 == " " || $0 == "\t" }
            guard rest.first == ";" else { break }
            rest = rest.dropFirst().drop { $0 == " " || $0 == "\t" }
            let name = String(rest.prefix { !"=;, \t".contains($0) }).lowercased()
            rest = rest.dropFirst(name.count).drop { $0 == " " || $0 == "\t" }
            var value = ""
            if rest.first == "=" {
                rest = rest.dropFirst().drop { $0 == " " || $0 == "\t" }
                value = rest.first == "\"" ? quoted(&rest) : token(&rest)
            }
            if !name.isEmpty, parameters[name] == nil { parameters[name] = value }
        }
        return WebLink(target: target, parameters: parameters)
    }

    private static func token(_ rest: inout Substring) -> String {
        let token = rest.prefix { !";, \t".contains($0) }
        rest = rest.dropFirst(token.count)
        return String(token)
    }

    private static func quoted(_ rest: inout Substring) -> String {
        var (value, isEscape) = ("", false)
        rest = rest.dropFirst()
        while let character = rest.popFirst() {
            if isEscape {
                value.append(character)
                isEscape = false
            } else if character == "\\" {
                isEscape = true
            } else if character == "\"" {
                break
            } else {
                value.append(character)
            }
        }
        return value
    }
}

extension URLRule {
    /// The http or https URL that a reference means in a response of `base`; nil for any other.
    public static func resolved(_ reference: String, against base: String) -> String? {
        guard let url = URL(string: reference, relativeTo: URL(string: base)),
            ["http", "https"].contains(url.scheme?.lowercased()), fault(in: url.absoluteString) == nil
        else { return nil }
        return normalized(url.absoluteString)
    }
}
