import CurlClient
import Downloads
import HTTPSemantics

/// Conversions from the types of `Downloads` to those of `CurlClient`.
extension TransferRequest.Credentials {
    init(_ credentials: Credentials) {
        self =
            switch credentials {
            case .basic(let username, let password): .basic(username: username, password: password)
            case .digest(let username, let password): .digest(username: username, password: password)
            case .bearer(let token): .bearer(token: token)
            }
    }
}

extension TransferRequest.Proxy {
    init(_ proxy: Proxy) {
        let scheme: Scheme =
            switch proxy.scheme {
            case .http: .http
            case .socks5: .socks5
            }
        self.init(
            scheme: scheme, host: proxy.host, port: proxy.port, username: proxy.username, password: proxy.password)
    }
}

extension TransferRequest.TLSOptions {
    init(_ rule: TLSRule, for host: String) {
        self.init(caFile: rule.caFile, pinnedPublicKeys: rule.pinnedPublicKeys[host] ?? [], verifies: rule.verify)
    }
}
