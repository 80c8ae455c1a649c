import CMicroHTTPD
import Glibc

/// Sends 304 without `Content-Length`.
///
/// The field is permitted in a 304, but some clients (wrk, `ab -k`) then wait for a body that never comes. Version 0.9.75
/// of the library adds it to every response except 1xx and 204, and no flag of a response prevents that. So the server
/// writes the status line of the 304 itself, with the beginning of a field, and the library sends a 204, whose status
/// line becomes the value of that field:
///
///     HTTP/1.1 304 Not Modified
///     Library-Status: HTTP/1.1 204 No Content
///     Date: ...
extension MHDResponse {
    func queueNotModified(on handle: OpaquePointer) -> MHD_Result {
        // The library has sent all earlier responses completely, and sends this one when the callback has returned.
        let socket = mhd_connection_socket(handle)
        let sent = Self.notModified.withUTF8Buffer { line in
            send(socket, line.baseAddress, line.count, Int32(MSG_MORE | MSG_NOSIGNAL))
        }
        guard sent == Self.notModified.utf8CodeUnitCount else { return .NO }
        return MHD_queue_response(handle, 204, response)
    }

    private static var notModified: StaticString { "HTTP/1.1 304 Not Modified\r\nLibrary-Status: " }
}
