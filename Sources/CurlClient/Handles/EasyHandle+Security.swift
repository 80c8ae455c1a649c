import CCurl

/// Who asks, through whom, and whom they trust, as libcurl's options.
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
        // One scheme rather than any: libcurl then neither asks first without (Basic) nor sinks to a weaker one.
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
        // This version takes a tunnel that other credentials have opened for as good as one of its own, unless the
        // distribution has mended it (CVE-2026-3784; Debian did in 7.88.1-10+deb12u15), which its number does not tell.
        if request.isTunnelled { try set(CURLOPT_FORBID_REUSE, true) }
    }

    func setTrust(of request: TransferRequest) throws(TransferError) {
        let tls = request.tls
        try set(CURLOPT_SSL_VERIFYPEER, tls.verifies)
        try set(CURLOPT_SSL_VERIFYHOST, tls.verifies ? 2 : 0)
        if let pins = tls.pins { try set(CURLOPT_PINNEDPUBLICKEY, pins) }
        // With a folder besides the file, libcurl reads the file anew for every connection: 40 ms for the system's, in
        // which the loop does nothing else. And certificates of the system's would be trusted besides those of a file
        // that is given.
        if CurlLibrary.hasCertificateFile || tls.caFile != nil { try set(CURLOPT_CAPATH, pointer: nil) }
        // Soon enough for somebody who mends the file and tries again.
        try set(CURLOPT_CA_CACHE_TIMEOUT, 60)
        if !tls.verifies {
            try set(CURLOPT_CAINFO, pointer: nil)
        } else if let caFile = tls.caFile {
            try set(CURLOPT_CAINFO, caFile)
        }
    }
}

extension TransferRequest {
    /// Whether its connections begin with a `CONNECT` to a proxy.
    var isTunnelled: Bool {
        proxy?.scheme == .http && url.prefix("https:".count).description.equalsIgnoringASCIICase("https:")
    }
}
