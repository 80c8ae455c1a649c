/// The rules for the destination of a request.
extension TransferRequest {
    /// Judges the destination before a name is looked up and before a connection is opened.
    ///
    /// A proxy connects to the destination itself, so no socket of this process has the address of the destination. An
    /// address in the URL is therefore judged here if the request uses a proxy. Names are resolved by the proxy, and only
    /// the rules for hosts apply to them.
    func judgeDestination(by options: CurlClient.Options) throws(TransferError) {
        guard !admitsAnyAddress else { return }
        let parsed = try ParsedURL(url)
        guard let text = parsed.host, let port = parsed.port else { return }
        let host = RequestedHost(text)
        guard options.hosts().admits(host, port: port) else { throw .hostRefused(host: text, port: port) }
        guard proxy != nil else { return }
        switch host {
        case .address(let address):
            guard admits(address, by: options) else { throw .addressRefused(address) }
        case .name where host.isLoopbackName:
            let loopback = [IPAddress("127.0.0.1"), IPAddress("::1")]
            guard loopback.contains(where: { admits($0, by: options) }) else { throw .addressRefused(loopback[0]) }
        case .name: return
        }
    }

    /// Whether this request may connect to the address.
    ///
    /// - Parameter address: nil if the address could not be read. It is admitted only if no rule exists.
    func admits(_ address: IPAddress?, by options: CurlClient.Options) -> Bool {
        if admitsAnyAddress { return true }
        if let addressPolicy { return address.map(addressPolicy.admits) ?? false }
        guard let admitsAddress = options.admitsAddress else { return true }
        return address.map(admitsAddress) ?? false
    }
}
