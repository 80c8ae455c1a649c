import Formats
import Foundation

/// The address of the service: scheme, host, port, and the path prefix of a reverse proxy, if there is one.
struct ServiceAddress: Sendable, Equatable, CustomStringConvertible {
    /// Without a slash at the end.
    let baseURL: String

    static let standard = "http://127.0.0.1:8080"

    /// - Parameter source: the origin of the text, for the error.
    init(_ text: String, from source: String) throws(ClientError) {
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        let url = trimmed.contains("://") ? trimmed : "http://" + trimmed
        guard let url = url.withASCIIHost, let parts = URLComponents(string: url),
            let scheme = parts.scheme?.lowercased(),
            ["http", "https"].contains(scheme), let host = parts.host, !host.isEmpty, parts.user == nil,
            parts.password == nil, parts.query == nil, parts.fragment == nil, (1...65_535).contains(parts.port ?? 80),
            url.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F })
        else {
            throw ClientError(
                .misconfigured, "The address cannot be used",
                "The address '\(Printable(text))', given by \(source), cannot be used. Use an address such as http://127.0.0.1:8080, without user, password or query."
            )
        }
        baseURL = String(url.reversed().drop { $0 == "/" }.reversed())
    }

    var description: String { baseURL }
}
