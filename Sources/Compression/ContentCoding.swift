/// A content coding that can be decoded (RFC 9110, section 8.4.1).
public enum ContentCoding: Sendable, Equatable, CaseIterable {
    /// RFC 1952.
    case gzip
    /// The zlib format (RFC 1950), or, as some servers send it, the bare format of RFC 1951.
    case deflate

    /// - Parameter name: in any case. `x-gzip` is another name of `gzip`. nil if it cannot be decoded.
    public init?(_ name: String) {
        switch name.lowercased() {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        default: return nil
        }
    }
}
