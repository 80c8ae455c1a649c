/// Decides which hosts and ports the URLs of requests may name.
///
/// It judges the text of a URL, before a name is looked up or a proxy is asked. It does not replace `AddressPolicy`, which
/// judges the address that a name leads to.
public struct HostPolicy: Sendable {
    private let allowed: [HostPattern]
    private let denied: [HostPattern]
    private let ports: [ClosedRange<Int>]

    /// - Parameters:
    ///   - allowed: the only hosts that are admitted; empty: all hosts.
    ///   - denied: hosts that are never admitted. They take precedence over `allowed`.
    ///   - ports: the only ports that are admitted; empty: all ports.
    public init(
        allowing allowed: [HostPattern] = [], denying denied: [HostPattern] = [], ports: [ClosedRange<Int>] = []
    ) {
        (self.allowed, self.denied, self.ports) = (allowed, denied, ports)
    }

    /// - Parameter host: the host of a URL, as it is in the URL.
    public func admits(host: String, port: Int) -> Bool {
        admits(RequestedHost(host), port: port)
    }

    func admits(_ host: RequestedHost, port: Int) -> Bool {
        let isAllowed = allowed.isEmpty || allowed.contains { $0.matches(host) }
        let isPortAllowed = ports.isEmpty || ports.contains { $0.contains(port) }
        return isAllowed && isPortAllowed && !denied.contains { $0.matches(host) }
    }
}
