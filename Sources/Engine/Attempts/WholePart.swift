import CurlClient
import Downloads
import HTTPSemantics

/// A part with every byte written, and facts about its transfer.
struct WholePart: Sendable {
    var file: PartFile
    /// Size in bytes.
    var size: Int64
    /// Head of the response that began the file.
    var head: ResponseHead
    var validators: Validators
    var label: FileLabel
    var metrics: TransferMetrics
    /// The decoding of its body; nil if the bytes are those that were received.
    var decoding: BodyDecoding?
    /// The last URL, after redirects.
    var url: String
    /// The URLs that redirected, in order.
    var redirects: [String]
    /// Whether the server or the job stated the size.
    var isLengthVerified: Bool
}
