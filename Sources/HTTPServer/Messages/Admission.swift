/// The verdict on a request head.
public enum Admission: Sendable {
    /// Read the body, up to this many bytes (by default ``HTTPServer/Options/maxBodyBytes``); one more and the request
    /// is refused with 413.
    case accept(maxBodyBytes: Int? = nil)
    /// Answer now, without reading the body.
    case refuse(Response)
}
