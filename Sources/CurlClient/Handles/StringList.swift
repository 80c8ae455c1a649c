import CCurl

/// A linked list of strings of libcurl, freed with this value.
struct StringList: ~Copyable {
    private(set) var first: UnsafeMutablePointer<curl_slist>?

    mutating func append(_ text: String) throws(TransferError) {
        guard let extended = curl_slist_append(first, text) else {
            throw .other(code: Int32(CURLE_OUT_OF_MEMORY.rawValue), message: "no memory for a header")
        }
        first = extended
    }

    deinit {
        curl_slist_free_all(first)
    }
}
