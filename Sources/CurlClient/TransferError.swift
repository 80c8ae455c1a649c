import CCurl
import Formats
import Glibc
import HTTPSemantics

/// The cause of a failed transfer, in cases that a caller can handle. The texts are for people.
public enum TransferError: Error, Sendable, Equatable {
    /// The text is not a URL, or the URL has no host.
    case badURL(String)
    /// A scheme other than `http` and `https`.
    case unsupportedProtocol
    case nameResolutionFailed
    /// Every address of the host or of the proxy refused the connection or did not answer, or the proxy could not
    /// connect to the host.
    case connectFailed(String)
    /// This machine has no route to the host. No request was sent.
    case networkUnreachable(String)
    /// `Options.admitsAddress` or the `addressPolicy` of the request refused every address of the host; nil if an address could
    /// not be read.
    case addressRefused(IPAddress?)
    /// `Options.admitsAddress` refused every address of the proxy.
    case proxyAddressRefused(IPAddress?)
    /// `Options.hosts` refused the host or the port of the URL.
    case hostRefused(host: String, port: Int)
    /// The text distinguishes an expired certificate, a certificate for another host, an untrusted issuer and a key that is not
    /// pinned. Also thrown if the TLS options of the request are invalid.
    case tlsFailed(String)
    /// A SOCKS proxy, such as `socks5://host:1080`, requires credentials, or refused the given ones. An HTTP proxy responds
    /// with status 407 instead.
    case proxyAuthenticationRequired(proxy: String)
    /// The connection was reset, or closed before a response.
    case connectionLost(String)
    /// The body ended early. `expected` is nil if the body is chunked.
    case truncated(expected: Int64?, received: Int64)
    case timedOut(Deadline)
    /// The server was slower than `TransferRequest.minimumSpeed`.
    case tooSlow
    /// The head is larger than `Options.headBytes`, or one line is longer than the limit of libcurl.
    case headTooLarge
    /// The request is invalid, or the response is not valid HTTP.
    case protocolError(String)
    /// The process or the machine has no free file descriptor.
    case tooManyOpenFiles
    /// Thrown only by `exchange`, if its task was cancelled or its client was shut down.
    case cancelled
    /// Any other error: the code and the message of libcurl.
    case other(code: Int32, message: String)

    public enum Deadline: Sendable {
        /// The lookup of the name did not end within the connect timeout.
        case lookup
        case connect, idle, total
    }
}

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

/// Maps result codes of libcurl to errors. Some codes have several causes, which the recorded state of the connection
/// distinguishes.
extension TransferError {
    init(_ code: CURLcode, of transfer: ActiveTransfer) {
        let message = transfer.easy.errorMessage ?? CurlLibrary.describe(code)
        if let failure = Self.proxyFailure(code, message, of: transfer) ?? Self.tlsFailure(code, message, of: transfer)
        {
            self = failure
            return
        }
        self =
            switch code {
            case CURLE_URL_MALFORMAT: .badURL(message)
            // libcurl also returns this code if the response does not begin like HTTP.
            case CURLE_UNSUPPORTED_PROTOCOL:
                transfer.connectionState.isConnected ? .protocolError(Self.beginning(message)) : .unsupportedProtocol
            case CURLE_COULDNT_RESOLVE_HOST: .nameResolutionFailed
            case CURLE_COULDNT_CONNECT: Self.connectFailure(message, of: transfer)
            // The connect timeout is the only one that libcurl checks.
            case CURLE_OPERATION_TIMEDOUT: .timedOut(.connect)
            case CURLE_PARTIAL_FILE:
                .truncated(expected: transfer.head?.contentLength, received: transfer.bytesReceived)
            // libcurl uses the same code for an invalid chunk header and a reset connection.
            case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR:
                message.contains("chunked-encoding") ? .protocolError(message) : .connectionLost(message)
            // This version of libcurl returns this code for a header line beyond its limit.
            case CURLE_OUT_OF_MEMORY where transfer.head == nil && transfer.connectionState.isConnected: .headTooLarge
            case CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_BAD_CONTENT_ENCODING:
                .protocolError(message)
            default: .other(code: Int32(bitPattern: code.rawValue), message: message)
            }
    }

    private static func beginning(_ message: String) -> String {
        message.contains("HTTP/0.9") ? "the answer does not begin as HTTP/1.1. \(onlyHTTP2)" : message
    }

    private static let onlyHTTP2 = "Perhaps the server has only HTTP/2, which fetchd does not use"

    private static func connectFailure(_ message: String, of transfer: ActiveTransfer) -> TransferError {
        let connectionState = transfer.connectionState
        if connectionState.lacksDescriptors { return .tooManyOpenFiles }
        // An admitted address that did not answer may answer later. A refused address stays refused.
        if connectionState.wasRefused, !connectionState.wasAdmitted {
            return transfer.refusal(of: connectionState.refusedAddress)
        }
        let cause = transfer.easy.long(CURLINFO_OS_ERRNO).map(Int32.init(truncatingIfNeeded:))
        let message = transfer.request.proxy.map { "the proxy \($0.authority): \(message)" } ?? message
        return cause == ENETUNREACH || cause == ENETDOWN ? .networkUnreachable(message) : .connectFailed(message)
    }
}

/// Errors of connections through a proxy.
extension TransferError {
    /// nil if the proxy is not the cause.
    static func proxyFailure(_ code: CURLcode, _ message: String, of transfer: ActiveTransfer) -> TransferError? {
        guard let proxy = transfer.request.proxy, transfer.connectionState.isConnecting else { return nil }
        switch code {
        case CURLE_COULDNT_RESOLVE_PROXY: return transfer.request.nameFailure(isLate: false)
        case CURLE_PROXY: return socksFailure(message, of: proxy, cause: transfer.easy.long(CURLINFO_PROXY_ERROR))
        // This version of libcurl returns these codes if the proxy refuses CONNECT or closes the connection.
        case CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING:
            return tunnelFailure(message, of: proxy, status: transfer.easy.long(CURLINFO_HTTP_CONNECTCODE))
        default: return nil
        }
    }

    private static func socksFailure(_ message: String, of proxy: Proxy, cause: Int?) -> TransferError {
        let wantsCredentials = [CURLPX_NO_AUTH, CURLPX_USER_REJECTED].map { Int($0.rawValue) }
        if let cause, wantsCredentials.contains(cause) { return .proxyAuthenticationRequired(proxy: proxy.url) }
        return .connectFailed("the proxy \(proxy.authority): \(message)")
    }

    private static func tunnelFailure(_ message: String, of proxy: Proxy, status: Int?) -> TransferError {
        guard let status, status >= 300 else { return .connectFailed("the proxy \(proxy.authority): \(message)") }
        return .connectFailed("the proxy \(proxy.authority) answered CONNECT with status \(status)")
    }
}

/// TLS errors as sentences. libcurl has one code for all certificate errors, so the result of OpenSSL's verification
/// selects the sentence.
extension TransferError {
    /// nil for codes that do not concern TLS.
    static func tlsFailure(_ code: CURLcode, _ message: String, of transfer: ActiveTransfer) -> TransferError? {
        switch code {
        case CURLE_SSL_CONNECT_ERROR:
            // A connection that is lost during the handshake is not a TLS error.
            let signsOfLoss = ["SSL_ERROR_SYSCALL", "unexpected eof", "Connection reset", "Broken pipe"]
            if signsOfLoss.contains(where: message.contains) { return .connectionLost(message) }
            return .tlsFailed(handshakeSentence(message))
        case CURLE_PEER_FAILED_VERIFICATION:
            return .tlsFailed(sentence(message, transfer.easy.long(CURLINFO_SSL_VERIFYRESULT)))
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH: return .tlsFailed("its public key is none of the pinned ones")
        case CURLE_SSL_CACERT_BADFILE:
            return .tlsFailed("the CA file \(transfer.request.tls.caFile ?? "of this system") cannot be used")
        case CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED,
            CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT:
            return .tlsFailed(message)
        default: return nil
        }
    }

    /// OpenSSL names the fault after the code and the library: `error:0A00010B:SSL routines::wrong version number`.
    private static func handshakeSentence(_ message: String) -> String {
        let signsOfPlainHTTP = ["wrong version number", "http request", "packet length too long"]
        if signsOfPlainHTTP.contains(where: message.contains) {
            return "it did not answer with TLS; a server without TLS has an http:// address"
        }
        if message.contains("no application protocol") { return "the server refuses HTTP/1.1. \(onlyHTTP2)" }
        guard message.contains("error:"), let fault = message.split(separator: ":").last else { return message }
        return "the handshake failed: \(fault)"
    }

    /// - Parameter verification: the result of OpenSSL (`CURLINFO_SSL_VERIFYRESULT`, `openssl-verification-options(1)`).
    private static func sentence(_ message: String, _ verification: Int?) -> String {
        switch verification {
        case 2, 20, 21, 27: "its certificate's issuer is not known"
        case 9: "its certificate is not valid yet"
        case 10: "its certificate has expired"
        case 18: "its certificate is self-signed and not trusted"
        case 19: "the issuer of its certificate is self-signed and not trusted"
        // No error, or 1 (`X509_V_ERR_UNSPECIFIED`), which libcurl reports until it has queried OpenSSL. libcurl compares the host
        // name itself.
        case (0...1)? where message.contains("host name"): "its certificate is for another host (\(message))"
        default: message
        }
    }
}
