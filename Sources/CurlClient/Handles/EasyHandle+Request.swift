import CCurl

/// A request as libcurl's options. What is the same for every transfer is a policy, and is here once.
extension EasyHandle {
    /// Sets up a validated request on a fresh or reset handle.
    func prepare(_ request: TransferRequest) throws(TransferError) {
        try setPolicy()
        try set(CURLOPT_URL, request.url)
        try limitConnecting(to: request.timeouts.connect)
        try setMethod(of: request)
        try setHeaders(of: request)
        if let userAgent = request.userAgent { try set(CURLOPT_USERAGENT, userAgent) }
        if let range = request.rangeOption { try set(CURLOPT_RANGE, range) }
        try setCredentials(of: request)
        try setProxy(of: request)
        try setTrust(of: request)
        try setBuffer(of: request)
    }

    /// The time until the request can be sent. 0 would be libcurl's own default.
    func limitConnecting(to time: Duration) throws(TransferError) {
        try set(CURLOPT_CONNECTTIMEOUT_MS, max(1, time.wholeMilliseconds))
    }

    private func setPolicy() throws(TransferError) {
        try useErrorText()
        try set(CURLOPT_NOSIGNAL, true)
        // Names are looked up before libcurl is asked (TransferLoop+Names.swift). Should it look one up all the same, the
        // end of the transfer would wait for the end of the lookup without this.
        try set(CURLOPT_QUICK_EXIT, true)
        try set(CURLOPT_PROTOCOLS_STR, "http,https")
        // This version reports a reset HTTP/2 stream without a length as success.
        try set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
        // Empty rather than unset: else `http_proxy` and `no_proxy` in the environment decide where connections go.
        try set(CURLOPT_PROXY, "")
        try set(CURLOPT_NOPROXY, "")
        try set(CURLOPT_FOLLOWLOCATION, false)
    }

    /// What is read at once comes at once, in pieces of 16 KiB at most, so a low rate wants a small buffer. 1 KiB is the
    /// least that libcurl takes, and while a transfer is under way the size cannot be changed.
    private func setBuffer(of request: TransferRequest) throws(TransferError) {
        let lowestRate = request.rateLimits.compactMap(\.bytesPerSecond).min() ?? .max
        try set(CURLOPT_BUFFERSIZE, Int(clamping: min(max(lowestRate / 10, 1024), 512 * 1024)))
    }

    private func setMethod(of request: TransferRequest) throws(TransferError) {
        if let body = request.framedBody {
            try set(CURLOPT_POST, true)
            try setCopied(body)
        } else if request.method == "HEAD" {
            // By name alone libcurl would wait for the body that never comes.
            try set(CURLOPT_NOBODY, true)
            return
        } else {
            try set(CURLOPT_HTTPGET, true)
        }
        try set(CURLOPT_CUSTOMREQUEST, request.method)
    }

    /// libcurl copies the body, so that no pointer of ours is kept; it must know the size before.
    private func setCopied(_ body: [UInt8]) throws(TransferError) {
        try set(CURLOPT_POSTFIELDSIZE_LARGE, offset: Int64(body.count))
        // A null pointer would mean a body that a callback provides.
        guard !body.isEmpty else { return try set(CURLOPT_COPYPOSTFIELDS, "") }
        let code = body.withUnsafeBytes { ccurl_easy_set_pointer(raw, CURLOPT_COPYPOSTFIELDS, $0.baseAddress) }
        try check(code)
    }

    private func setHeaders(of request: TransferRequest) throws(TransferError) {
        var list = StringList()
        for header in request.unsupersededHeaders {
            // A semicolon is libcurl's way to say: send this one, with no value.
            try list.append(header.value.isEmpty ? "\(header.name);" : "\(header.name): \(header.value)")
        }
        if !request.hasHeader("Accept-Encoding") { try list.append("Accept-Encoding: identity") }
        // A name and a colon alone keep libcurl from adding its own.
        for unwanted in ["Expect", "Content-Type"] where !request.hasHeader(unwanted) {
            try list.append("\(unwanted):")
        }
        if case .bearer(let token) = request.credentials { try list.append("Authorization: Bearer \(token)") }
        try use(headers: list)
    }
}
