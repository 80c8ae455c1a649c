import Formats
import Foundation

/// Reads the `filename` of `Content-Disposition` (RFC 6266). The extended form `filename*` (RFC 8187) takes precedence.
public enum ContentDisposition {
    public static func filename(_ header: String) -> String? {
        let parameters = parse(header)
        let extended = parameters.first { $0.name == "filename*" }.flatMap { decodeExtended($0.value) }
        return extended ?? parameters.first { $0.name == "filename" }?.value
    }

    private static func parse(_ header: String) -> [(name: String, value: String)] {
        // Skips the disposition type.
        var rest = header.drop { $0 != ";" }
        var parameters: [(name: String, value: String)] = []
        while rest.first == ";" {
            rest = rest.dropFirst().drop { $0 == " " || $0 == "\t" }
            let name = rest.prefix { $0 != "=" && $0 != ";" }
            rest = rest.dropFirst(name.count)
            guard rest.first == "=" else { continue }
            rest = rest.dropFirst().drop { $0 == " " || $0 == "\t" }
            let value = rest.first == "\"" ? quoted(&rest) : token(&rest)
            parameters.append((name.trimmingHTTPSpace.lowercased(), value))
            rest = rest.drop { $0 != ";" }
        }
        return parameters
    }

    private static func token(_ rest: inout Substring) -> String {
        let token = rest.prefix { $0 != ";" }
        rest = rest.dropFirst(token.count)
        return token.trimmingHTTPSpace
    }

    private static func quoted(_ rest: inout Substring) -> String {
        var value = ""
        rest = rest.dropFirst()
        while let character = rest.popFirst(), character != "\"" {
            // Some servers send Windows paths without escaping. So a backslash escapes only a quote or another backslash.
            if character == "\\", let next = rest.first, next == "\"" || next == "\\" {
                value.append(next)
                rest = rest.dropFirst()
            } else {
                value.append(character)
            }
        }
        return value
    }

    /// `UTF-8'en'na%C3%AFve.txt`
    private static func decodeExtended(_ value: String) -> String? {
        let pieces = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard pieces.count == 3, ["utf-8", "iso-8859-1"].contains(pieces[0].lowercased()) else { return nil }
        if pieces[0].lowercased() == "utf-8" { return pieces[2].percentDecoded }
        return pieces[2].percentDecodedBytes.map { String(latin1: $0) }
    }
}
