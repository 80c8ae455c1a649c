import CurlClient
import Downloads
import HTTPSemantics

/// A part with every byte written, and how the bytes came.
struct WholePart: Sendable {
    var file: PartFile
    /// Bytes.
    var size: Int64
    /// Head of the response that the file began with.
    var head: ResponseHead
    var validators: Validators
    var label: FileLabel
    var metrics: TransferMetrics
    /// The last URL, after redirects.
    var url: String
    /// The URLs that redirected, in order.
    var redirects: [String]
    /// The server or the job stated the size.
    var isLengthVerified: Bool
}
