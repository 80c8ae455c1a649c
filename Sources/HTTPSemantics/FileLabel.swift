/// What a response states about its file besides the bytes: the type, a suggested name, and digests.
///
/// A part stores its label. The response with the rest of the file need not repeat it (RFC 9110, section 15.3.7), and
/// the headers of a 416 describe that response, not the file.
public struct FileLabel: Sendable, Equatable {
    public var contentType: String?
    /// The header as it was sent.
    public var contentDisposition: String?
    /// The digests are valid as long as the validators of the same response.
    public var digests: [DigestClaim]

    public init(contentType: String? = nil, contentDisposition: String? = nil, digests: [DigestClaim] = []) {
        self.contentType = contentType
        self.contentDisposition = contentDisposition
        self.digests = digests
    }

    /// This label, with the members that it lacks taken from an earlier one. Two digests that contradict each other are
    /// both kept. No bytes can match both, so fetchd fetches the file again.
    public func completed(by earlier: FileLabel) -> FileLabel {
        FileLabel(
            contentType: contentType ?? earlier.contentType,
            contentDisposition: contentDisposition ?? earlier.contentDisposition,
            digests: digests + earlier.digests.filter { !digests.contains($0) })
    }
}
