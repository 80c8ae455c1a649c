import CCurl

/// The global state of libcurl. It is initialised once and never released, because other threads may still use it.
enum CurlLibrary {
    private static let initialisation = curl_global_init(Int(CURL_GLOBAL_ALL))

    static func initialise() throws(CurlClientError) {
        guard initialisation == CURLE_OK else {
            throw .libraryUnavailable(describe(initialisation))
        }
    }

    /// Whether libcurl was built with the path of a file that contains the trusted certificates of the system.
    static let hasCertificateFile = curl_version_info(CURLVERSION_TENTH)?.pointee.cainfo != nil

    /// libcurl's description of a code, for transfers without an error message.
    static func describe(_ code: CURLcode) -> String {
        String(cString: curl_easy_strerror(code))
    }
}
