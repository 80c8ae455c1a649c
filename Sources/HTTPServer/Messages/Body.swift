/// The content of a response.
///
/// For HEAD, the handler gives the same body as for GET. The server sends its length and no bytes. (With ``none`` the
/// announced length is 0.) 204 and 304 have no body and announce no length.
public enum Body: Sendable {
    case none
    case bytes([UInt8])
    /// A region of a file, which the kernel sends without copying it into this process.
    case file(FileRegion)
    /// Bytes that are produced while they are sent.
    case stream(ResponseStream)
}
