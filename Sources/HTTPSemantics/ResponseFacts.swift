import Foundation

/// The members of a response head that the verdict needs, read once.
public struct ResponseFacts: Sendable, Equatable {
    public var status: Int
    /// The size of this response's body in bytes, if known.
    public var contentLength: Int64?
    public var contentRange: ContentRange?
    public var isMultipart: Bool
    /// Whether the response is a redirect with a location.
    public var isRedirect: Bool
    public var validators: Validators
    /// `Content-Encoding` in lower case; nil without a coding.
    public var contentCoding: String?
    public var label: FileLabel
    /// The challenges of the server, or of the proxy if it sent the response.
    public var challenges: [Challenge]
    /// Whether the response is the proxy's own demand for credentials.
    public var isOfProxy: Bool
    /// `Retry-After` as it was sent.
    public var retryAfter: String?

    public init(status: Int, headers: [(name: String, value: String)], isOfProxy: Bool = false) {
        func values(_ name: String) -> [String] {
            headers.filter { $0.name.utf8.count == name.utf8.count && $0.name.lowercased() == name }.map(\.value)
        }
        func value(_ name: String) -> String? { values(name).first?.trimmingCharacters(in: .whitespaces) }
        self.status = status
        // A transfer coding overrides the length (RFC 9112, section 6.3).
        let isCoded = value("transfer-encoding") != nil
        contentLength = isCoded ? nil : value("content-length").flatMap(Self.length)
        contentRange = value("content-range").flatMap(ContentRange.init)
        isMultipart = value("content-type")?.lowercased().hasPrefix("multipart/byteranges") ?? false
        isRedirect = [300, 301, 302, 303, 307, 308].contains(status) && !(value("location") ?? "").isEmpty
        self.isOfProxy = isOfProxy
        challenges = values(isOfProxy ? "proxy-authenticate" : "www-authenticate").flatMap(Challenge.all(in:))
        retryAfter = value("retry-after")
        label = FileLabel(
            contentType: value("content-type"), contentDisposition: value("content-disposition"),
            digests: DigestClaim.claims(ofStatus: status, headers))
        let codings = values("content-encoding").joined(separator: ", ")
        let coding = codings.trimmingCharacters(in: .whitespaces).lowercased()
        contentCoding = coding.isEmpty || coding == "identity" ? nil : coding
        let date = value("date").flatMap(Date.init(httpDate:))
        let modified = value("last-modified").flatMap(Date.init(httpDate:))
        validators = Validators(
            etag: value("etag"), lastModified: modified == nil ? nil : value("last-modified"),
            lastModifiedIsStrong: date.flatMap { date in modified.map { date.timeIntervalSince($0) >= 1 } } ?? false,
            isEncoded: contentCoding != nil)
    }

    /// The length in bytes of `Content-Length`. A list repeats one length (RFC 9110, section 8.6); nil if it does not.
    private static func length(_ field: String) -> Int64? {
        let lengths = Set(field.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } })
        guard lengths.count == 1, let text = lengths.first, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }

    /// The delay in seconds that `Retry-After` requests, as a number or as a date (RFC 9110, section 10.2.3); nil if
    /// the header is missing or invalid.
    public func retryDelay(at now: Date) -> Double? {
        guard let retryAfter else { return nil }
        if !retryAfter.isEmpty, retryAfter.utf8.allSatisfy({ (0x30...0x39).contains($0) }) { return Double(retryAfter) }
        return Date(httpDate: retryAfter).map { max(0, $0.timeIntervalSince(now)) }
    }
}
