/// Decides which addresses a request may connect to.
///
/// Without it, a client could use the service to reach the machine and its internal network (server-side request
/// forgery, SSRF). It judges the address of the socket, not the text of the URL: `0x7f.1`, `localhost` and a DNS name
/// that resolves to 127.0.0.1 have the same address.
public struct AddressPolicy: Sendable {
    /// The addresses that need no permission.
    public enum Base: Sendable {
        case publicAddresses, allAddresses
    }

    private let base: Base
    private let allowed: [Network]
    private let denied: [Network]

    /// - Parameters:
    ///   - allowed: networks that are admitted in addition to `base`.
    ///   - denied: networks that are never admitted. They take precedence over `base` and `allowed`.
    public init(
        admitting base: Base = .publicAddresses, allowing allowed: [Network] = [], denying denied: [Network] = []
    ) {
        (self.base, self.allowed, self.denied) = (base, allowed, denied)
    }

    /// For `CurlClient.Options.admitsAddress`.
    public func admits(_ address: IPAddress) -> Bool {
        !isDenied(address) && (isOfBase(address) || isAllowed(address) || address.embeddedIPv4.map(isAllowed) ?? false)
    }

    private func isOfBase(_ address: IPAddress) -> Bool {
        switch base {
        case .publicAddresses: address.isPublic
        case .allAddresses: true
        }
    }

    private func isAllowed(_ address: IPAddress) -> Bool {
        allowed.contains { $0.contains(address) }
    }

    /// A denied IPv4 address must not be reached through an IPv6 address that leads to it either.
    private func isDenied(_ address: IPAddress) -> Bool {
        guard !denied.isEmpty else { return false }
        return ([address] + address.possibleIPv4).contains { address in denied.contains { $0.contains(address) } }
    }
}
