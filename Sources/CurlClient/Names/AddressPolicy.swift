/// Which addresses may be talked to on behalf of others: public ones, and those of networks that were allowed by name.
///
/// A service that fetches what it is told to would otherwise fetch what only its own machine and network can reach
/// ("server-side request forgery"). An address is judged, never a text: `0x7f.1`, `localhost` and a name that somebody
/// points at 127.0.0.1 are the same socket address in the end.
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
