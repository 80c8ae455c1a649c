import CCurl
import Formats

/// An easy handle of libcurl. It runs one transfer and is freed. The thread of the loop owns it.
///
/// A handle is never used again, because `curl_easy_reset` does not reset everything. After a transfer that fails before
/// it has a connection (libcurl cannot convert its host name), libcurl 7.88.1 keeps the receive buffer, and then refuses
/// `CURLOPT_BUFFERSIZE` with code 43 for the next transfer. A new handle costs 1 µs more.
///
/// It owns everything that libcurl keeps a pointer to during a transfer (headers, addresses, error text), so that these
/// live as long as the handle.
final class EasyHandle {
    let raw: OpaquePointer
    private var headers = StringList()
    private var addresses = StringList()
    private let errorText: UnsafeMutablePointer<CChar>

    init() throws(TransferError) {
        guard let raw = curl_easy_init() else {
            throw .other(code: Int32(CURLE_OUT_OF_MEMORY.rawValue), message: "no memory for an easy handle")
        }
        self.raw = raw
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        curl_easy_cleanup(raw)
        errorText.deallocate()
    }

    /// Reads nothing more from the connection. What libcurl has read already still arrives. Callbacks may call this, too.
    ///
    /// If only one direction is paused, libcurl 7.88.1 reads once more.
    func pause() -> CURLcode { curl_easy_pause(raw, CURLPAUSE_ALL) }

    /// Resumes a paused transfer. libcurl may deliver the bytes that it held back before this returns.
    func resume() -> CURLcode { curl_easy_pause(raw, CURLPAUSE_CONT) }

    var errorMessage: String? { errorText.pointee == 0 ? nil : String(cString: errorText) }

    func use(headers list: consuming StringList) throws(TransferError) {
        headers = list
        try check(ccurl_easy_set_list(raw, CURLOPT_HTTPHEADER, headers.first))
    }

    /// Adds an entry to libcurl's DNS cache before the transfer starts (`CURLOPT_RESOLVE`).
    func use(_ cacheEntry: String) throws(TransferError) {
        var list = StringList()
        try list.append(cacheEntry)
        addresses = list
        try check(ccurl_easy_set_list(raw, CURLOPT_RESOLVE, addresses.first))
    }

    func useErrorText() throws(TransferError) { try set(CURLOPT_ERRORBUFFER, pointer: errorText) }
}

// MARK: - Options

extension EasyHandle {
    func set(_ option: CURLoption, _ value: Int) throws(TransferError) {
        try check(ccurl_easy_set_long(raw, option, value))
    }

    func set(_ option: CURLoption, _ value: Bool) throws(TransferError) { try set(option, value ? 1 : 0) }

    func set(_ option: CURLoption, offset value: Int64) throws(TransferError) {
        try check(ccurl_easy_set_offset(raw, option, curl_off_t(value)))
    }

    /// libcurl copies the text.
    func set(_ option: CURLoption, _ value: String) throws(TransferError) {
        try check(ccurl_easy_set_string(raw, option, value))
    }

    func set(_ option: CURLoption, pointer value: UnsafeRawPointer?) throws(TransferError) {
        try check(ccurl_easy_set_pointer(raw, option, value))
    }

    func check(_ code: CURLcode) throws(TransferError) {
        guard code == CURLE_OK else {
            throw .other(code: Int32(bitPattern: code.rawValue), message: CurlLibrary.describe(code))
        }
    }
}

// MARK: - Information

extension EasyHandle {
    func long(_ info: CURLINFO) -> Int? {
        var value = 0
        return ccurl_easy_get_long(raw, info, &value) == CURLE_OK ? value : nil
    }

    func offset(_ info: CURLINFO) -> Int64? {
        var value: curl_off_t = 0
        return ccurl_easy_get_offset(raw, info, &value) == CURLE_OK ? Int64(value) : nil
    }

    func string(_ info: CURLINFO) -> String? {
        var value: UnsafePointer<CChar>?
        guard ccurl_easy_get_string(raw, info, &value) == CURLE_OK, let value, value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}

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
        // The loop looks up names before it starts libcurl (`find`). If libcurl looks up a name anyway,
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

    /// A larger buffer saves no more CPU time.
    static let largestBuffer = 512 << 10
    private static let smallestShare = 8 << 10
    private static let sharedBufferBytes = 4 << 20

    private func setMethod(of request: TransferRequest) throws(TransferError) {
        if request.needsNewConnection { try set(CURLOPT_FRESH_CONNECT, true) }
        if let file = request.bodyFile {
            try set(CURLOPT_POST, true)
            try set(CURLOPT_POSTFIELDSIZE_LARGE, offset: request.bodyLength ?? file.restOfFile ?? -1)
            try readBody(from: file)
            if let limit = request.sendLimit { try set(CURLOPT_MAX_SEND_SPEED_LARGE, offset: limit) }
        } else if let body = request.framedBody {
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
        if let file = request.bodyFile, request.bodyLength ?? file.restOfFile == nil {
            try list.append("Transfer-Encoding: chunked")
        }
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
        // If a certificate folder is also set, libcurl reads the file again for every connection. This takes 40 ms for the file
        // of the system and blocks the loop. It would also trust the certificates of the system in addition to those of a given
        // file.
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

struct StringList: ~Copyable {
    private(set) var first: UnsafeMutablePointer<curl_slist>?

    mutating func append(_ text: String) throws(TransferError) {
        guard let extended = curl_slist_append(first, text) else {
            throw .other(code: Int32(CURLE_OUT_OF_MEMORY.rawValue), message: "no memory for a header")
        }
        first = extended
    }

    deinit { curl_slist_free_all(first) }
}
