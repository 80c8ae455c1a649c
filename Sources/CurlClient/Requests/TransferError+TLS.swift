import CCurl

/// TLS errors as sentences. libcurl has one code for all certificate errors, so the result of OpenSSL's verification
/// selects the sentence.
extension TransferError {
    /// Results of the verification by OpenSSL (`CURLINFO_SSL_VERIFYRESULT`, `openssl-verification-options(1)`).
    private enum Verification {
        /// 1 is `X509_V_ERR_UNSPECIFIED`: libcurl compares names first, and reports this value until it has queried
        /// OpenSSL.
        static let noError = [0, 1]
        static let issuerNotFound = [2, 20, 21, 27]
        static let notYetValid = 9
        static let expired = 10
        static let selfSigned = 18
        static let selfSignedIssuer = 19
    }

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
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
            return .tlsFailed("its public key is none of the pinned ones")
        case CURLE_SSL_CACERT_BADFILE:
            return .tlsFailed("the CA file \(transfer.request.tls.caFile ?? "of this system") cannot be used")
        case CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED,
            CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT:
            return .tlsFailed(message)
        default:
            return nil
        }
    }

    /// OpenSSL names the fault after the code and the library: `error:0A00010B:SSL routines::wrong version number`.
    private static func handshakeSentence(_ message: String) -> String {
        let signsOfPlainHTTP = ["wrong version number", "http request", "packet length too long"]
        if signsOfPlainHTTP.contains(where: message.contains) {
            return "it did not answer with TLS; a server without TLS has an http:// address"
        }
        guard message.contains("error:"), let fault = message.split(separator: ":").last else { return message }
        return "the handshake failed: \(fault)"
    }

    private static func sentence(_ message: String, _ verification: Int?) -> String {
        switch verification {
        case Verification.expired: "its certificate has expired"
        case Verification.notYetValid: "its certificate is not valid yet"
        case Verification.selfSigned: "its certificate is self-signed and not trusted"
        case Verification.selfSignedIssuer: "the issuer of its certificate is self-signed and not trusted"
        case let result? where Verification.issuerNotFound.contains(result): "its certificate's issuer is not known"
        // libcurl compares the host name itself, after OpenSSL has verified the certificate.
        case let result? where Verification.noError.contains(result) && message.contains("host name"):
            "its certificate is for another host (\(message))"
        default: message
        }
    }
}
