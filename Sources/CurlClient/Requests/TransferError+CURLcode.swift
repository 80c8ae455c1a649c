import CCurl
import Glibc

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
        switch code {
        case CURLE_URL_MALFORMAT:
            self = .badURL(message)
        case CURLE_UNSUPPORTED_PROTOCOL:
            // libcurl also returns this code if the response does not begin like HTTP.
            self = transfer.connectionState.isConnected ? .protocolError(message) : .unsupportedProtocol
        case CURLE_COULDNT_RESOLVE_HOST:
            self = .nameResolutionFailed
        case CURLE_COULDNT_CONNECT:
            self = Self.connectFailure(message, of: transfer)
        case CURLE_OPERATION_TIMEDOUT:
            // The connect timeout is the only one that libcurl checks.
            self = .timedOut(.connect)
        case CURLE_PARTIAL_FILE:
            self = .truncated(expected: transfer.head?.contentLength, received: transfer.bytesReceived)
        case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR:
            self = Self.exchangeFailure(message)
        case CURLE_OUT_OF_MEMORY where transfer.head == nil && transfer.connectionState.isConnected:
            // This version of libcurl returns this code for a header line beyond its limit.
            self = .headTooLarge
        case CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_BAD_CONTENT_ENCODING:
            self = .protocolError(message)
        default:
            self = .other(code: Int32(bitPattern: code.rawValue), message: message)
        }
    }

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

    /// libcurl uses the same code for an invalid chunk header and a reset connection.
    private static func exchangeFailure(_ message: String) -> TransferError {
        message.contains("chunked-encoding") ? .protocolError(message) : .connectionLost(message)
    }
}
