/// What a response says of its file beyond the bytes: what it is, and what it might be called.
///
/// A part keeps it. The answer that brings the rest of a file need not say it again (RFC 9110, section 15.3.7), and one
/// that has nothing left to send speaks of itself.
public struct FileLabel: Sendable, Equatable {
    public var contentType: String?
    /// As it was sent.
    public var contentDisposition: String?

    public init(contentType: String? = nil, contentDisposition: String? = nil) {
        self.contentType = contentType
        self.contentDisposition = contentDisposition
    }

    /// This, and where it is silent what was said before.
    public func completed(by earlier: FileLabel) -> FileLabel {
        FileLabel(
            contentType: contentType ?? earlier.contentType,
            contentDisposition: contentDisposition ?? earlier.contentDisposition)
    }
}
