/// Whether the body that follows a head is wanted.
public enum HeadVerdict: Sendable {
    case accept
    /// The transfer ends at once; no byte of the body reaches the handler.
    case reject
}
