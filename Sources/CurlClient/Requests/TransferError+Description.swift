/// What went wrong, as the end of a sentence: for logs, and for whoever looks at a webhook's deliveries.
extension TransferError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .badURL(let why): "the URL cannot be used (\(why))"
        case .unsupportedProtocol: "only http and https are spoken"
        case .nameResolutionFailed: "the host's name could not be resolved"
        case .connectFailed(let why), .networkUnreachable(let why): "no connection (\(why))"
        case .addressRefused(let address): "its address\(address.map { " \($0)" } ?? "") may not be talked to"
        case .proxyAddressRefused(let address):
            "the proxy's address\(address.map { " \($0)" } ?? "") may not be talked to"
        case .tlsFailed(let why): "TLS failed (\(why))"
        case .proxyAuthenticationRequired: "the proxy wants credentials, or others"
        case .connectionLost(let why): "the connection was lost (\(why))"
        case .truncated(let expected?, let received): "the answer ended after \(received) of \(expected) bytes"
        case .truncated(nil, let received): "the answer ended early, after \(received) bytes"
        case .timedOut(.lookup): "its name could not be resolved in time"
        case .timedOut(.connect): "it did not take the connection in time"
        case .timedOut(.idle): "it fell silent for too long"
        case .timedOut(.total): "it did not answer in time"
        case .tooSlow: "it sent too slowly for too long"
        case .headTooLarge: "the head of its answer is too large"
        case .protocolError(let why): "it does not speak HTTP properly (\(why))"
        case .tooManyOpenFiles: "this process has no file descriptor left (ulimit -n)"
        case .cancelled: "the transfer was cancelled"
        case .other(let code, let message): "\(message) (libcurl \(code))"
        }
    }
}
