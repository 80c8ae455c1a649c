import CCurl

/// Translates a request to options of libcurl. Settings that are the same for every transfer are in `setPolicy`.
extension EasyHandle {
    /// Configures a new handle for a validated request.
    ///
    /// - Parameter others: the number of transfers that the loop runs already.
    func prepare(_ request: TransferRequest, beside others: Int) throws(TransferError) {
        try setPolicy()
        try set(CURLOPT_URL, request.url)
        try limitConnecting(to: request.timeouts.connect)
        if let path = request.unixSocket { try set(CURLOPT_UNIX_SOCKET_PATH, path) }
        try setMethod(of: request)
        try setHeaders(of: request)
        if let userAgent = request.userAgent { try set(CURLOPT_USERAGENT, userAgent) }
        if let range = request.rangeOption { try set(CURLOPT_RANGE, range) }
        try setCredentials(of: request)
        try setProxy(of: request)
        try setTrust(of: request)
        try setBuffer(of: request, beside: others)
    }

    /// The time until the request can be sent. 0 would select the default of libcurl, which refuses more than 2^31 - 1.
    func limitConnecting(to time: Duration) throws(TransferError) {
        try set(CURLOPT_CONNECTTIMEOUT_MS, min(max(1, time.wholeMilliseconds), Int(Int32.max)))
    }

    private func setPolicy() throws(TransferError) {
        try useErrorText()
        try set(CURLOPT_NOSIGNAL, true)
        // The loop looks up names before it starts libcurl (TransferLoop+DNS.swift). If libcurl looks up a name anyway,
        // this option keeps the end of the transfer from waiting for that lookup.
        try set(CURLOPT_QUICK_EXIT, true)
        try set(CURLOPT_PROTOCOLS_STR, "http,https")
        // This version of libcurl reports a reset HTTP/2 stream without a length as success.
        try set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
        // Empty instead of unset: otherwise `http_proxy` and `no_proxy` in the environment would select the proxy.
        try set(CURLOPT_PROXY, "")
        try set(CURLOPT_NOPROXY, "")
        try set(CURLOPT_FOLLOWLOCATION, false)
    }

    /// libcurl delivers the bytes of one read at once, in pieces of at most 16 KiB, so a low rate needs a small buffer.
    /// libcurl accepts at least 1 KiB, and the size cannot be changed during a transfer.
    ///
    /// Each transfer has a buffer of its own, which stays in memory as far as it was ever filled. So thousands of
    /// transfers share a fixed amount of memory.
    private func setBuffer(of request: TransferRequest, beside others: Int) throws(TransferError) {
        let lowestRate = request.rateLimits.compactMap(\.bytesPerSecond).min() ?? .max
        let share = max(Self.sharedBufferBytes / (others + 1), Self.smallestShare)
        let bytes = min(share, Self.largestBuffer)
        try set(CURLOPT_BUFFERSIZE, Int(clamping: min(max(lowestRate / 10, 1024), Int64(bytes))))
    }

    /// Bytes. A buffer larger than the largest one saves no more CPU time.
    private static let largestBuffer = 512 << 10
    private static let smallestShare = 16 << 10
    private static let sharedBufferBytes = 16 << 20

    private func setMethod(of request: TransferRequest) throws(TransferError) {
        if let body = request.framedBody {
            try set(CURLOPT_POST, true)
            try setCopied(body)
        } else if request.method == "HEAD" {
            // With the method name alone, libcurl would wait for a body.
            try set(CURLOPT_NOBODY, true)
            return
        } else {
            try set(CURLOPT_HTTPGET, true)
        }
        try set(CURLOPT_CUSTOMREQUEST, request.method)
    }

    /// libcurl copies the body, so it keeps no pointer to our memory. It needs the size first.
    private func setCopied(_ body: [UInt8]) throws(TransferError) {
        try set(CURLOPT_POSTFIELDSIZE_LARGE, offset: Int64(body.count))
        // A null pointer would select a body from a callback.
        guard !body.isEmpty else { return try set(CURLOPT_COPYPOSTFIELDS, "") }
        let code = body.withUnsafeBytes { ccurl_easy_set_pointer(raw, CURLOPT_COPYPOSTFIELDS, $0.baseAddress) }
        try check(code)
    }

    private func setHeaders(of request: TransferRequest) throws(TransferError) {
        var list = StringList()
        for header in request.unsupersededHeaders {
            // With a semicolon, libcurl sends a field without a value.
            try list.append(header.value.isEmpty ? "\(header.name);" : "\(header.name): \(header.value)")
        }
        if !request.hasHeader("Accept-Encoding") { try list.append("Accept-Encoding: identity") }
        // With only a name and a colon, libcurl does not add its own field.
        for unwanted in ["Expect", "Content-Type"] where !request.hasHeader(unwanted) {
            try list.append("\(unwanted):")
        }
        if case .bearer(let token) = request.credentials { try list.append("Authorization: Bearer \(token)") }
        try use(headers: list)
    }
}
