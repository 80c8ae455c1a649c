import HTTPSemantics

/// Decides which hosts and ports the URLs of requests may name.
///
/// It judges the text of a URL, before a name is looked up or a proxy is asked. It does not replace `AddressPolicy`, which
/// judges the address that a name leads to.
public struct HostPolicy: Sendable, Equatable {
    /// The only hosts that are admitted; empty: all hosts.
    public var allowed: [HostPattern]
    /// Hosts that are never admitted. They take precedence over `allowed`.
    public var denied: [HostPattern]
    /// The only ports that are admitted; empty: all ports.
    public var ports: [ClosedRange<Int>]

    public init(
        allowing allowed: [HostPattern] = [], denying denied: [HostPattern] = [], ports: [ClosedRange<Int>] = []
    ) {
        self.allowed = allowed
        self.denied = denied
        self.ports = ports
    }

    func admits(_ host: RequestedHost, port: Int) -> Bool {
        let isAllowed = allowed.isEmpty || allowed.contains { $0.matches(host) }
        let isPortAllowed = ports.isEmpty || ports.contains { $0.contains(port) }
        return isAllowed && isPortAllowed && !denied.contains { $0.matches(host) }
    }
}
