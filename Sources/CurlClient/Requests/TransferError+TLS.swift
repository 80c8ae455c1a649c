import CCurl

/// What was wrong with the other end's TLS, as a sentence: the numbers behind libcurl's one code for all certificates.
extension TransferError {
    /// Results of OpenSSL's verification (`CURLINFO_SSL_VERIFYRESULT`, `openssl-verification-options(1)`).
    private enum Verification {
        /// 1 is `X509_V_ERR_UNSPECIFIED`: what libcurl says until it has asked OpenSSL, which it does after comparing names.
        static let nothingAmiss = [0, 1]
        static let issuerNotFound = [2, 20, 21, 27]
        static let notYetValid = 9
        static let expired = 10
        static let selfSigned = 18
        static let selfSignedIssuer = 19
    }

    /// nil for codes that are not about TLS.
    static func tlsFailure(_ code: CURLcode, _ message: String, of transfer: ActiveTransfer) -> TransferError? {
        switch code {
        case CURLE_SSL_CONNECT_ERROR:
            // A connection cut during the handshake says nothing about the other end's TLS.
            let signsOfLoss = ["SSL_ERROR_SYSCALL", "unexpected eof", "Connection reset", "Broken pipe"]
            return signsOfLoss.contains { message.contains($0) } ? .connectionLost(message) : .tlsFailed(message)
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

    private static func sentence(_ message: String, _ verification: Int?) -> String {
        switch verification {
        case Verification.expired: "its certificate has expired"
        case Verification.notYetValid: "its certificate is not valid yet"
        case Verification.selfSigned: "its certificate is self-signed, and not trusted"
        case Verification.selfSignedIssuer: "its certificate was issued by somebody unknown, who is self-signed"
        case let result? where Verification.issuerNotFound.contains(result): "its certificate's issuer is not known"
        // libcurl compares names by itself, after OpenSSL found nothing amiss.
        case let result? where Verification.nothingAmiss.contains(result) && message.contains("host name"):
            "its certificate is for another host (\(message))"
        default: message
        }
    }
}
