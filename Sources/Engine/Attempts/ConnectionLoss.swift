import CurlClient
import Downloads
import Formats
import Foundation
import HTTPSemantics

/// Why a connection fetches no more bytes.
struct ConnectionLoss: Sendable {
    var failure: Failure
    var hint = RetryPolicy.Hint()
    /// No other connection could complete the file: the disk is full, or the file is too large.
    var isFinal = false
    /// The connection had received bytes before.
    var hasReceived = false
}

extension ConnectionLoss {
    /// - Parameter now: the moment from which `Retry-After` is counted.
    init(_ failure: Failure, _ result: TransferResult?, hasTarget: Bool, at now: Date) {
        let facts = result?.head.map { ResponseFacts(status: $0.status, headers: $0.headers) }
        let hasNoRoute = if case .failed(.networkUnreachable)? = result?.outcome { true } else { false }
        self.init(
            failure: failure,
            hint: RetryPolicy.Hint(retryAfter: facts?.retryDelay(at: now), hasNoRoute: hasNoRoute),
            hasReceived: hasTarget && result.map { $0.bytesReceived > 0 } ?? false)
    }
}

extension Failure {
    init(_ error: TransferError, url: String) {
        let host = URLRule.hostAndPort(of: url)
        switch error {
        case .badURL(let why): self.init(.badURL, "The URL cannot be fetched: \(why).")
        case .unsupportedProtocol: self.init(.badURL, "Only http and https URLs are fetched.")
        case .nameResolutionFailed: self.init(.nameResolutionFailed, "The name of \(host) could not be resolved.")
        case .connectFailed(let why), .networkUnreachable(let why):
            self.init(.connectFailed, "No connection to \(host): \(why).")
        case .addressRefused(let address): self.init(blocking: host, at: address)
        case .proxyAddressRefused(let address): self.init(blocking: "The session's proxy", at: address)
        case .hostRefused(let host, let port):
            self.init(
                .blockedAddress,
                "The service does not download from \(host):\(port): see its settings --allow-origin-host, --deny-origin-host and --allow-origin-port."
            )
        case .tlsFailed(let why): self.init(.tlsFailed, "TLS with \(host) failed: \(why).")
        case .connectionLost(let why): self.init(.connectionLost, "The connection to \(host) was lost: \(why).")
        case .truncated(let expected?, let received):
            self.init(.truncated, "The body ended after \(received) of \(expected) bytes.")
        case .truncated(nil, let received): self.init(.truncated, "The body ended early, after \(received) bytes.")
        case .timedOut(.lookup): self.init(.nameResolutionFailed, "The name of \(host) could not be resolved in time.")
        case .timedOut(.connect): self.init(.timedOut, "\(host) did not take the connection in time.")
        case .timedOut(.idle): self.init(.timedOut, "\(host) sent no data for too long.")
        case .timedOut(.total): self.init(.timedOut, "The transfer from \(host) took too long.")
        case .tooSlow: self.init(.tooSlow, "\(host) sends less than the session's minimum_bytes_per_second.")
        case .proxyAuthenticationRequired(let proxy):
            self.init(
                .proxyCredentialsRequired,
                "The proxy \(proxy) asks for other credentials: set user:password@ in the session's `proxy`.")
        case .headTooLarge: self.init(.connectionLost, "The response head of \(host) is too large.")
        case .protocolError(let why): self.init(.connectionLost, "The HTTP exchange with \(host) is invalid: \(why).")
        case .tooManyOpenFiles:
            self.init(.connectFailed, "fetchd has no file descriptor left; raise its limit (ulimit -n).")
        case .cancelled: self.init(.connectionLost, "The transfer was cancelled.")
        case .other(let code, let message):
            self.init(.connectionLost, "The transfer failed: \(message) (libcurl \(code)).")
        }
    }

    /// - Parameter who: the host with its port, or the proxy. The address is not repeated if the host is that address.
    private init(blocking who: String, at address: IPAddress?) {
        let shown = address.map(\.description) ?? "an address that cannot be read"
        let isAddress = who.hasPrefix("\(shown):") || who.hasPrefix("[\(shown)]:")
        guard address?.isPublic != true else {
            let place = isAddress ? who : "\(who) is at \(shown), which"
            self.init(.blockedAddress, "\(place) is in a network that --deny-network of the service excludes.")
            return
        }
        let fault =
            isAddress ? "\(who) is not at a public address" : "\(who) is at \(shown), which is not a public address"
        self.init(.blockedAddress, "\(fault). Start fetchd with --allow-network to allow it.")
    }
}
