import CCurl

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

    /// Resumes a paused transfer. libcurl may deliver the bytes that it held back before this returns.
    func resume() -> CURLcode {
        curl_easy_pause(raw, CURLPAUSE_CONT)
    }

    /// libcurl's message for the failure, if there is one.
    var errorMessage: String? {
        errorText.pointee == 0 ? nil : String(cString: errorText)
    }

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

    func useErrorText() throws(TransferError) {
        try set(CURLOPT_ERRORBUFFER, pointer: errorText)
    }
}

// MARK: - Options

extension EasyHandle {
    func set(_ option: CURLoption, _ value: Int) throws(TransferError) {
        try check(ccurl_easy_set_long(raw, option, value))
    }

    func set(_ option: CURLoption, _ value: Bool) throws(TransferError) {
        try set(option, value ? 1 : 0)
    }

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
