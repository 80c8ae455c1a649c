import Glibc

/// The request line, as the library has parsed it.
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

    /// Whether the target is complete. The library ends a string at a NUL. The version always follows the complete
    /// target in the same buffer, so a target that was cut short leaves a gap.
    func confirms(_ target: String?) -> Bool {
        target.map { url + $0.utf8.count + 1 == version } ?? false
    }
}
