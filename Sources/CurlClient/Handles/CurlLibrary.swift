import CCurl

/// libcurl's process-wide state: initialised once, never torn down, as other threads may still be inside.
enum CurlLibrary {
    private static let initialisation = curl_global_init(Int(CURL_GLOBAL_ALL))

    static func initialise() throws(CurlClientError) {
        guard initialisation == CURLE_OK else {
            throw .libraryUnavailable(describe(initialisation))
        }
    }

    /// Whether it was built to know the file with the system's trusted certificates.
    static let hasCertificateFile = curl_version_info(CURLVERSION_TENTH)?.pointee.cainfo != nil

    /// libcurl's words for a code, for when a transfer left no message of its own.
    static func describe(_ code: CURLcode) -> String {
        String(cString: curl_easy_strerror(code))
    }
}
