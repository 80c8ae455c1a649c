import Glibc

/// The first line of a request as the library has parsed it.
struct RequestLine {
    private let url: UnsafePointer<CChar>
    private let methodText: UnsafePointer<CChar>
    private let version: UnsafePointer<CChar>

    init?(url: UnsafePointer<CChar>?, method: UnsafePointer<CChar>?, version: UnsafePointer<CChar>?) {
        guard let url, let method, let version else { return nil }
        (self.url, methodText, self.version) = (url, method, version)
    }

    var method: String { String(cString: methodText) }

    var isHTTP11: Bool { strcmp(version, "HTTP/1.0") != 0 }

    /// Whether a target is all that was sent. The library sees a NUL as the end of a string, but the version always
    /// follows the whole target in the same buffer, so that a cut leaves a gap between the two.
    func confirms(_ target: String?) -> Bool {
        target.map { url + $0.utf8.count + 1 == version } ?? false
    }
}
