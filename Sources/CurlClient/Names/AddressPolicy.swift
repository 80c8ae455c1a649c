/// Decides which addresses transfers may connect to: public addresses, and networks that the configuration allows.
///
/// Without it, a client could use the service to reach the machine and its internal network (server-side request
/// forgery, SSRF). It checks the address of the socket, not the text of the URL: `0x7f.1`, `localhost` and a DNS name
/// that resolves to 127.0.0.1 have the same address.
public struct AddressPolicy: Sendable {
    private let allowed: [Network]

    public init(allowing networks: [Network] = []) {
        allowed = networks
    }

    /// For `CurlClient.Options.admitsAddress`.
    public func admits(_ address: IPAddress) -> Bool {
        address.isPublic || isAllowed(address) || address.embeddedIPv4.map(isAllowed) ?? false
    }

    private func isAllowed(_ address: IPAddress) -> Bool {
        allowed.contains { $0.contains(address) }
    }
}
