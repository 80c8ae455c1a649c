/// The decision about a request head.
public enum Admission: Sendable {
    /// Read the body, at most this many bytes (by default ``HTTPServer/Options/maxBodyBytes``), and respond to the
    /// complete request. A larger body is refused with 413.
    ///
    /// The server calls `respond` on its network thread, so it must return without waiting. It may use all that was
    /// found out about the head, so that nothing is looked up twice.
    case accept(maxBodyBytes: Int? = nil, respond: @Sendable (Request) -> Answer)
    /// Respond now, without reading the body.
    case refuse(Response)
}
