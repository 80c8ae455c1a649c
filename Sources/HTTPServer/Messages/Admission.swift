/// The decision about a request head.
public enum Admission: Sendable {
    /// Read the body, at most this many bytes (by default ``HTTPServer/Options/maxBodyBytes``). A larger body is
    /// refused with 413.
    case accept(maxBodyBytes: Int? = nil)
    /// Respond now, without reading the body.
    case refuse(Response)
}
