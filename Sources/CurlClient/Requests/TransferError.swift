/// Why a transfer failed, in terms a caller can act upon. Texts are for people.
public enum TransferError: Error, Sendable, Equatable {
    /// Not a URL, or one without a host.
    case badURL(String)
    /// A scheme other than `http` and `https`.
    case unsupportedProtocol
    case nameResolutionFailed
    /// Refused, or no answer, by every address of the host, or of the proxy; or the proxy did not connect to the host.
    case connectFailed(String)
    /// This machine has no route: nothing was asked of the other end.
    case networkUnreachable(String)
    /// `Options.admitsAddress` said no to every address of the host; nil when an address could not be read.
    case addressRefused(IPAddress?)
    /// The same of the proxy.
    case proxyAddressRefused(IPAddress?)
    /// In the words of `TransferError+TLS.swift`, which tell an expired certificate, one for another host, one that
    /// nobody trusted has issued, and a key that is not pinned apart. Also when the request's own options cannot be used.
    case tlsFailed(String)
    /// A SOCKS proxy wants credentials, or others. An HTTP proxy says so by a head of status 407.
    case proxyAuthenticationRequired
    /// Reset, or closed before a response.
    case connectionLost(String)
    /// The body ended early. `expected` is nil for a chunked one.
    case truncated(expected: Int64?, received: Int64)
    case timedOut(Deadline)
    /// Fewer bytes came than `TransferRequest.minimumSpeed` demands.
    case tooSlow
    /// More bytes of head than `Options.headBytes`, or one line longer than libcurl takes.
    case headTooLarge
    /// The request cannot be sent as it is, or the response is not HTTP.
    case protocolError(String)
    /// This process or machine has no descriptor left for a socket.
    case tooManyOpenFiles
    /// Only thrown by `exchange`, whose task was cancelled or whose client was shut down.
    case cancelled
    /// What has no name above: libcurl's code and words.
    case other(code: Int32, message: String)

    public enum Deadline: Sendable {
        /// The name was still being looked up when the time to connect was over.
        case lookup
        case connect, idle, total
    }
}
