import CurlClient

/// `HOST:PORT`, where the host is an address (IPv6 in brackets) or `localhost`.
struct ListenAddress: Sendable, CustomStringConvertible {
    let host: String
    let port: UInt16

    init(_ text: String) throws {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            throw SettingsError(
                "listen is '\(text)'; it takes HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080, or none.")
        }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        if host == "localhost" { host = "127.0.0.1" }
        guard IPAddress(host) != nil else {
            throw SettingsError(
                "listen is '\(text)'; '\(host)' is not an IP address. Use 0.0.0.0 for all IPv4 addresses, [::] for all addresses."
            )
        }
        self.host = host
        self.port = port
    }

    var isLoopback: Bool {
        guard let address = IPAddress(host) else { return false }
        return address.isIPv4 ? address.bytes.first == 127 : address == IPAddress("::1")
    }

    /// The same address with the port that the system chose.
    func with(port: UInt16) -> ListenAddress { ListenAddress(host: host, port: port) }

    private init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
