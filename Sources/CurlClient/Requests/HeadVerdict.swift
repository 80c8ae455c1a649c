/// Whether the handler wants the body of a response.
public enum HeadVerdict: Sendable {
    case accept
    /// The transfer ends, and the handler receives no byte of the body.
    case reject
}
