/// What a response says of its file beyond the bytes: what it is, what it might be called, and what its bytes hash to.
///
/// A part keeps it. The answer that brings the rest of a file need not say it again (RFC 9110, section 15.3.7), and one
/// that has nothing left to send speaks of itself.
public struct FileLabel: Sendable, Equatable {
    public var contentType: String?
    /// As it was sent.
    public var contentDisposition: String?
    /// They hold as long as the validators that they came with do.
    public var digests: [DigestClaim]

    public init(contentType: String? = nil, contentDisposition: String? = nil, digests: [DigestClaim] = []) {
        self.contentType = contentType
        self.contentDisposition = contentDisposition
        self.digests = digests
    }

    /// This, and where it is silent what was said before. Two digests that contradict each other are both kept: no bytes
    /// bear both out, and a file of which that is said is fetched anew.
    public func completed(by earlier: FileLabel) -> FileLabel {
        FileLabel(
            contentType: contentType ?? earlier.contentType,
            contentDisposition: contentDisposition ?? earlier.contentDisposition,
            digests: digests + earlier.digests.filter { !digests.contains($0) })
    }
}
