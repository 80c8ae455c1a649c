/// A host name that must be looked up before a connection can be opened, and its port.
struct NamedHost: Equatable {
    /// As libcurl normalizes it: without escapes and in lower case, so that equal names are equal
    /// texts.
    let name: String
    let port: Int

    /// nil if libcurl needs no lookup: for addresses, and for `localhost` and names below it, which libcurl maps to the
    /// loopback (RFC 6761, 6.3).
    init?(_ url: consuming ParsedURL) {
        guard let host = url.host, let port = url.port else { return nil }
        let name = String(decoding: host.utf8.map(\.asciiLowercased), as: UTF8.self)
        guard !name.hasPrefix("["), IPAddress(name) == nil, name != "localhost", !name.hasSuffix(".localhost") else {
            return nil
        }
        (self.name, self.port) = (name, port)
    }

    /// The entry that sets the addresses of the host in libcurl's DNS cache (`CURLOPT_RESOLVE`).
    func entry(_ addresses: [IPAddress]) -> String {
        let list = addresses.map { $0.isIPv4 ? $0.description : "[\($0)]" }.joined(separator: ",")
        // With a plus, the entry expires like a lookup of libcurl itself. Without it, the entry would stay for ever.
        return "+\(name):\(port):\(list)"
    }
}

extension TransferRequest {
    /// The host that must be looked up before this request can be sent; nil if none. With a proxy, it is the host of
    /// the proxy.
    var namedHost: NamedHost? {
        get throws(TransferError) {
            NamedHost(try ParsedURL(proxy.map { "http://\($0.authority)" } ?? url))
        }
    }

    /// The error for a lookup that failed, or that did not end in time.
    func nameFailure(isLate: Bool) -> TransferError {
        guard let proxy else { return isLate ? .timedOut(.lookup) : .nameResolutionFailed }
        let time = isLate ? " in time" : ""
        return .connectFailed("the name of the proxy \(proxy.authority) could not be resolved\(time)")
    }
}
