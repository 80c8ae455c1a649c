import CCurl
import Glibc

/// Errors of connections through a proxy.
extension TransferError {
    /// nil if the proxy is not the cause.
    static func proxyFailure(_ code: CURLcode, _ message: String, of transfer: ActiveTransfer) -> TransferError? {
        guard let proxy = transfer.request.proxy, transfer.connectionState.isConnecting else { return nil }
        switch code {
        case CURLE_COULDNT_RESOLVE_PROXY:
            return transfer.request.nameFailure(isLate: false)
        case CURLE_PROXY:
            return socksFailure(message, proxy, transfer.easy.long(CURLINFO_PROXY_ERROR))
        // This version of libcurl returns these codes if the proxy refuses CONNECT or closes the connection.
        case CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING:
            return tunnelFailure(message, proxy, transfer.easy.long(CURLINFO_HTTP_CONNECTCODE))
        default:
            return nil
        }
    }

    private static func socksFailure(
        _ message: String, _ proxy: TransferRequest.Proxy, _ cause: Int?
    ) -> TransferError {
        let wantsCredentials = [CURLPX_NO_AUTH, CURLPX_USER_REJECTED].map { Int($0.rawValue) }
        if let cause, wantsCredentials.contains(cause) { return .proxyAuthenticationRequired(proxy: proxy.description) }
        return .connectFailed("the proxy \(proxy.authority): \(message)")
    }

    private static func tunnelFailure(
        _ message: String, _ proxy: TransferRequest.Proxy, _ status: Int?
    ) -> TransferError {
        guard let status, status >= 300 else { return .connectFailed("the proxy \(proxy.authority): \(message)") }
        return .connectFailed("the proxy \(proxy.authority) answered CONNECT with status \(status)")
    }
}
