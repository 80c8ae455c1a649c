/// The content of a response.
///
/// To HEAD, and with 304, the same body is given as for a 200 to GET: the server sends its length and keeps the bytes to
/// itself. (With ``none`` the length is said to be 0; only 204 says nothing of it.)
public enum Body: Sendable {
    case none
    case bytes([UInt8])
    /// A stretch of a file, sent by the kernel without passing through this process.
    case file(FileRegion)
    /// Bytes that come into being while they are sent.
    case stream(ResponseStream)
}
