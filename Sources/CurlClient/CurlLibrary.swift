import CCurl

/// libcurl's process-wide state: initialised once, never torn down, as other threads may still be inside.
enum CurlLibrary {
    private static let initialisation = curl_global_init(Int(CURL_GLOBAL_ALL))

    static func initialise() throws(CurlClientError) {
        guard initialisation == CURLE_OK else {
            throw .libraryUnavailable(describe(initialisation))
        }
    }

    /// libcurl's words for a code, for when a transfer left no message of its own.
    static func describe(_ code: CURLcode) -> String {
        String(cString: curl_easy_strerror(code))
    }
}
