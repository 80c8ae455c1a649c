/// A host that has to be looked up before a connection can be made, and its port.
struct NamedHost: Equatable {
    /// As libcurl spells it: without escapes, in ASCII (RFC 5890), in lower case, so that one name is one spelling.
    let name: String
    let port: Int

    /// nil where libcurl needs no resolver: for addresses, and for `localhost` and what is below it, which it knows to be
    /// the loopback (RFC 6761, 6.3).
    init?(_ url: consuming ParsedURL) {
        guard let host = url.host, let port = url.port else { return nil }
        let name = String(decoding: host.utf8.map(\.asciiLowercased), as: UTF8.self)
        guard !name.hasPrefix("["), IPAddress(name) == nil, name != "localhost", !name.hasSuffix(".localhost") else {
            return nil
        }
        (self.name, self.port) = (name, port)
    }

    /// The entry for libcurl's cache that makes these the host's addresses (`CURLOPT_RESOLVE`).
    func entry(_ addresses: [IPAddress]) -> String {
        let list = addresses.map { $0.isIPv4 ? $0.description : "[\($0)]" }.joined(separator: ",")
        // With a plus it expires, as what libcurl had looked up itself would. Without, it would stay for ever.
        return "+\(name):\(port):\(list)"
    }
}

extension TransferRequest {
    /// Whose addresses it takes to send this; nil: they are known. Through a proxy, only the proxy's.
    var namedHost: NamedHost? {
        get throws(TransferError) {
            NamedHost(try ParsedURL(proxy.map { "http://\($0.authority)" } ?? url))
        }
    }

    /// What it means for this request that the name was not found, or not in time.
    func nameFailure(isLate: Bool) -> TransferError {
        guard let proxy else { return isLate ? .timedOut(.lookup) : .nameResolutionFailed }
        let time = isLate ? " in time" : ""
        return .connectFailed("the name of the proxy \(proxy.authority) could not be resolved\(time)")
    }
}
