/// The error as a clause that completes a sentence, for logs and for the deliveries of webhooks.
extension TransferError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .badURL(let why): "the URL cannot be used (\(why))"
        case .unsupportedProtocol: "the scheme is not http or https"
        case .nameResolutionFailed: "the host name could not be resolved"
        case .connectFailed(let why), .networkUnreachable(let why): "no connection (\(why))"
        case .addressRefused(let address): "connections to its address\(address.map { " \($0)" } ?? "") are not allowed"
        case .proxyAddressRefused(let address):
            "connections to the address\(address.map { " \($0)" } ?? "") of the proxy are not allowed"
        case .hostRefused(let host, let port): "requests to \(host):\(port) are not allowed"
        case .tlsFailed(let why): "TLS failed (\(why))"
        case .proxyAuthenticationRequired(let proxy): "the proxy \(proxy) requires other credentials"
        case .connectionLost(let why): "the connection was lost (\(why))"
        case .truncated(let expected?, let received): "the response ended after \(received) of \(expected) bytes"
        case .truncated(nil, let received): "the response ended early, after \(received) bytes"
        case .timedOut(.lookup): "its name could not be resolved in time"
        case .timedOut(.connect): "it did not accept the connection in time"
        case .timedOut(.idle): "it sent no data for too long"
        case .timedOut(.total): "it did not respond in time"
        case .tooSlow: "it sent too slowly for too long"
        case .headTooLarge: "its response head is too large"
        case .protocolError(let why): "the HTTP exchange is invalid (\(why))"
        case .tooManyOpenFiles: "this process has no free file descriptor (ulimit -n)"
        case .cancelled: "the transfer was cancelled"
        case .other(let code, let message): "\(message) (libcurl \(code))"
        }
    }
}
