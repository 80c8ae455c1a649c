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

    /// Whether the line is exactly a method, a space, this target, a space and a version. The library ends a string at a
    /// NUL, and accepts several spaces. All three lie in the same buffer, so that any other byte leaves a gap.
    func confirms(_ target: String) -> Bool {
        methodText + strlen(methodText) + 1 == url && url + target.utf8.count + 1 == version
    }

    /// The first byte of the head, in the buffer of the connection.
    var start: UnsafeRawPointer { UnsafeRawPointer(methodText) }

    /// The first byte after the line, if the line ends with CRLF.
    var end: UnsafeRawPointer { UnsafeRawPointer(version + strlen(version) + 2) }
}
