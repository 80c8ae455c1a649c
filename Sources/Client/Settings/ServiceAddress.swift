import Formats
import Foundation

/// The address of the service: scheme, host, port, and the path prefix of a reverse proxy, if there is one; or
/// `unix:` with the path of a Unix domain socket.
struct ServiceAddress: Sendable, Equatable, CustomStringConvertible {
    /// Without a slash at the end.
    let baseURL: String
    /// The path of the Unix domain socket, if the address is one.
    let unixSocket: String?

    static let standard = "http://127.0.0.1:8080"

    /// - Parameter source: the origin of the text, for the error.
    init(_ text: String, from source: String) throws(ClientError) {
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        if trimmed.hasPrefix("unix:") {
            let path = trimmed.dropFirst(5)
            guard path.hasPrefix("/"), !path.utf8.contains(0) else { throw .unusable(text, from: source) }
            (baseURL, unixSocket) = ("http://127.0.0.1", String(path))
            return
        }
        let url = trimmed.contains("://") ? trimmed : "http://" + trimmed
        guard let url = url.withASCIIHost, let parts = URLComponents(string: url),
            let scheme = parts.scheme?.lowercased(),
            ["http", "https"].contains(scheme), let host = parts.host, !host.isEmpty, parts.user == nil,
            parts.password == nil, parts.query == nil, parts.fragment == nil, (1...65_535).contains(parts.port ?? 80),
            url.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F })
        else {
            throw .unusable(text, from: source)
        }
        unixSocket = nil
        baseURL = String(url.reversed().drop { $0 == "/" }.reversed())
    }

    var description: String { unixSocket.map { "unix:\($0)" } ?? baseURL }
}

extension ClientError {
    fileprivate static func unusable(_ address: String, from source: String) -> ClientError {
        ClientError(
            .misconfigured, "The address cannot be used",
            "The address '\(Printable(address))', given by \(source), cannot be used. Use an address such as http://127.0.0.1:8080, without user, password or query, or unix:/run/fetchd.sock."
        )
    }
}
