import CCurl
import Glibc

/// libcurl's result codes as causes. Some codes stand for several; what the transfer saw on its way tells them apart.
extension TransferError {
    init(_ code: CURLcode, of transfer: ActiveTransfer) {
        let message = transfer.easy.errorMessage ?? CurlLibrary.describe(code)
        switch code {
        case CURLE_URL_MALFORMAT:
            self = .badURL(message)
        case CURLE_UNSUPPORTED_PROTOCOL:
            // Also what a response gets that does not begin like HTTP.
            self = transfer.evidence.isConnected ? .protocolError(message) : .unsupportedProtocol
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            self = .nameResolutionFailed
        case CURLE_COULDNT_CONNECT:
            self = Self.connectFailure(message, of: transfer)
        case CURLE_OPERATION_TIMEDOUT:
            // The only time that libcurl watches.
            self = .timedOut(.connect)
        case CURLE_PARTIAL_FILE:
            self = .truncated(expected: transfer.head?.contentLength, received: transfer.bytesReceived)
        case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR:
            self = Self.exchangeFailure(message)
        case CURLE_OUT_OF_MEMORY where transfer.head == nil && transfer.evidence.isConnected:
            // What this version says of a line beyond its limit.
            self = .headTooLarge
        case CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_BAD_CONTENT_ENCODING:
            self = .protocolError(message)
        default:
            self = Self.tlsFailure(code, message) ?? .other(code: Int32(bitPattern: code.rawValue), message: message)
        }
    }

    private static func connectFailure(_ message: String, of transfer: ActiveTransfer) -> TransferError {
        let evidence = transfer.evidence
        if evidence.lacksDescriptors { return .tooManyOpenFiles }
        // An address that was tried and did not answer may answer later; a refusal stands.
        if evidence.wasRefused, !evidence.wasAdmitted { return .addressRefused(evidence.refusedAddress) }
        let cause = transfer.easy.long(CURLINFO_OS_ERRNO).map(Int32.init(truncatingIfNeeded:))
        return cause == ENETUNREACH || cause == ENETDOWN ? .networkUnreachable(message) : .connectFailed(message)
    }

    /// A chunk header that cannot be read has the same code as a reset connection.
    private static func exchangeFailure(_ message: String) -> TransferError {
        message.contains("chunked-encoding") ? .protocolError(message) : .connectionLost(message)
    }

    private static func tlsFailure(_ code: CURLcode, _ message: String) -> TransferError? {
        switch code {
        case CURLE_SSL_CONNECT_ERROR:
            // A connection cut during the handshake says nothing about the other end's TLS.
            let signsOfLoss = ["SSL_ERROR_SYSCALL", "unexpected eof", "Connection reset", "Broken pipe"]
            return signsOfLoss.contains { message.contains($0) } ? .connectionLost(message) : .tlsFailed(message)
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED,
            CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT:
            return .tlsFailed(message)
        default:
            return nil
        }
    }
}
