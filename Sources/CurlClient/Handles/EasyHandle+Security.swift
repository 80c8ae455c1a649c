import CCurl

/// Credentials, proxy and TLS of a request, as options of libcurl.
extension EasyHandle {
    /// `CURLAUTH_BASIC` and `CURLAUTH_DIGEST`, whose macros Swift cannot read.
    private static let (basic, digest) = (1 << 0, 1 << 1)

    /// A bearer token is a header: see `setHeaders`.
    func setCredentials(of request: TransferRequest) throws(TransferError) {
        switch request.credentials {
        case .basic(let username, let password): try setCredentials(username, password, for: Self.basic)
        case .digest(let username, let password): try setCredentials(username, password, for: Self.digest)
        case .bearer, nil: break
        }
    }

    private func setCredentials(_ username: String, _ password: String, for scheme: Int) throws(TransferError) {
        // Only one scheme is allowed. With several, libcurl would first send a request without credentials (Basic), or
        // fall back to a weaker scheme.
        try set(CURLOPT_HTTPAUTH, scheme)
        try set(CURLOPT_USERNAME, username)
        try set(CURLOPT_PASSWORD, password)
    }

    func setProxy(of request: TransferRequest) throws(TransferError) {
        guard let proxy = request.proxy else { return }
        try set(CURLOPT_PROXY, proxy.option)
        guard let username = proxy.username else { return }
        try set(CURLOPT_PROXYAUTH, Self.basic)
        try set(CURLOPT_PROXYUSERNAME, username)
        try set(CURLOPT_PROXYPASSWORD, proxy.password ?? "")
        // This version of libcurl reuses a tunnel that was opened with other credentials, unless the distribution has
        // fixed CVE-2026-3784 (Debian: 7.88.1-10+deb12u15). The version number does not show the fix.
        if request.isTunnelled { try set(CURLOPT_FORBID_REUSE, true) }
    }

    func setTrust(of request: TransferRequest) throws(TransferError) {
        let tls = request.tls
        try set(CURLOPT_SSL_VERIFYPEER, tls.verifies)
        try set(CURLOPT_SSL_VERIFYHOST, tls.verifies ? 2 : 0)
        if let pins = tls.pins { try set(CURLOPT_PINNEDPUBLICKEY, pins) }
        // If a certificate folder is also set, libcurl reads the file again for every connection. This takes 40 ms for
        // the file of the system and blocks the loop. It would also trust the certificates of the system besides those
        // of a given file.
        if CurlLibrary.hasCertificateFile || tls.caFile != nil { try set(CURLOPT_CAPATH, pointer: nil) }
        // In seconds. A corrected file takes effect after this time.
        try set(CURLOPT_CA_CACHE_TIMEOUT, 60)
        if !tls.verifies {
            try set(CURLOPT_CAINFO, pointer: nil)
        } else if let caFile = tls.caFile {
            try set(CURLOPT_CAINFO, caFile)
        }
    }
}

extension TransferRequest {
    /// Whether its connections start with a `CONNECT` to a proxy.
    var isTunnelled: Bool {
        proxy?.scheme == .http && url.prefix("https:".count).description.equalsIgnoringASCIICase("https:")
    }
}
