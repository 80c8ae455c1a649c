import CMicroHTTPD
import Glibc
import HTTPTypes

/// A response in the form of the library, which copies or takes over all values that it receives.
struct MHDResponse: ~Copyable, @unchecked Sendable {
    let response: OpaquePointer

    /// nil if memory or descriptors run out, if a stream is already used for another response, or if the library does
    /// not support the status. Then the connection can only be closed.
    ///
    /// - Parameters:
    ///   - toHead: whether the request method is HEAD.
    ///   - isLast: whether the connection closes after this response.
    init?(_ response: Response, on connection: Connection, handle: OpaquePointer, toHead: Bool, isLast: Bool) {
        guard response.status.code >= 200,
            let made = Self.make(response.body, on: connection, handle: handle)
        else { return nil }
        self.response = made
        if toHead, case .stream(let stream) = response.body, stream.length == nil {
            // The library would send the end of a chunked body although the response has none.
            mhd_response_end_with_connection(made)
        }
        Self.add(response.headers, to: made)
        if isLast || response.headers[.connection]?.lowercased() == "close" {
            MHD_add_response_header(made, "Connection", "close")
        }
    }

    /// A response that can be queued several times, on any connection. nil if memory runs out, or if the body can be
    /// read only once.
    init?(_ response: Response) {
        guard response.status.code >= 200, let made = Self.make(response.body) else { return nil }
        self.response = made
        Self.add(response.headers, to: made)
    }

    /// The acceptance of a handshake. The library adds `Connection: Upgrade`. nil if memory runs out.
    init?(_ upgrade: WebSocketUpgrade) {
        guard let made = MHD_create_response_for_upgrade(takeOverSocket, nil) else { return nil }
        response = made
        MHD_add_response_header(made, "Upgrade", "websocket")
        MHD_add_response_header(made, HTTPField.Name.secWebSocketAccept.rawName, upgrade.accept)
    }

    deinit { MHD_destroy_response(response) }

    func queue(_ status: HTTPResponse.Status, on handle: OpaquePointer) -> MHD_Result {
        guard status != .notModified else { return queueNotModified(on: handle) }
        return MHD_queue_response(handle, UInt32(status.code), response)
    }

    private static func add(_ fields: HTTPFields, to made: OpaquePointer) {
        for field in fields where !isOurs(field) { MHD_add_response_header(made, field.name.rawName, field.value) }
        for field in SecurityHeaders.all where fields[field.name] == nil {
            MHD_add_response_header(made, field.name.rawName, field.value)
        }
    }

    private static func isOurs(_ field: HTTPField) -> Bool {
        switch field.name {
        case .contentLength, .transferEncoding, .connection, .date: true
        default: false
        }
    }

    private static func make(_ body: Body, on connection: Connection, handle: OpaquePointer) -> OpaquePointer? {
        switch body {
        case .none, .bytes: make(body)
        case .file(let region): make(region)
        case .stream(let stream): make(stream, on: connection, handle: handle)
        }
    }

    private static func make(_ body: Body) -> OpaquePointer? {
        switch body {
        case .none: MHD_create_response_from_buffer(0, nil, .RESPMEM_PERSISTENT)
        case .bytes(let bytes):
            bytes.withUnsafeBytes {
                MHD_create_response_from_buffer($0.count, .init(mutating: $0.baseAddress), .RESPMEM_MUST_COPY)
            }
        case .file, .stream: nil
        }
    }

    private static func make(_ region: FileRegion) -> OpaquePointer? {
        guard region.isComplete, let descriptor = region.duplicateDescriptor() else { return nil }
        if let made = MHD_create_response_from_fd_at_offset64(region.length, descriptor, region.offset) { return made }
        close(descriptor)
        return nil
    }

    private static func make(
        _ stream: ResponseStream, on connection: Connection, handle: OpaquePointer
    ) -> OpaquePointer? {
        guard stream.attach(to: connection) else { return nil }
        let reader = Unmanaged.passRetained(StreamReader(stream: stream, handle: handle))
        let made = MHD_create_response_from_callback(
            stream.length.map { UInt64($0) } ?? sizeUnknown, stream.length == nil ? openBlock : streamBlock, readStream,
            reader.toOpaque(), releaseStream)
        if made == nil { releaseStream(reader.toOpaque()) }
        return made
    }

    /// MHD_SIZE_UNKNOWN, a macro that Swift does not import.
    private static let sizeUnknown = UInt64.max
    private static let streamBlock = 16 << 10
    /// The buffer in bytes for the other bodies. Only HTTP/1.0 clients use it: chunks are read into the buffer of the
    /// connection.
    private static let openBlock = 1 << 10
}

private final class StreamReader {
    let stream: ResponseStream
    let handle: OpaquePointer

    init(stream: ResponseStream, handle: OpaquePointer) {
        self.stream = stream
        self.handle = handle
    }

    deinit { stream.detach() }
}

private func readStream(
    reader: UnsafeMutableRawPointer?, position: UInt64, buffer: UnsafeMutablePointer<CChar>?, capacity: Int
) -> Int {
    guard let reader else { return endWithError }
    let source = Unmanaged<StreamReader>.fromOpaque(reader).takeUnretainedValue()
    let space = UnsafeMutableRawBufferPointer(start: buffer, count: capacity)
    switch source.stream.read(into: space, for: source.handle) {
    case .bytes(let count): return count
    case .asleep: return 0
    case .end: return endOfStream
    case .failure: return endWithError
    }
}

private func releaseStream(_ reader: UnsafeMutableRawPointer?) {
    guard let reader else { return }
    Unmanaged<StreamReader>.fromOpaque(reader).release()
}

/// MHD_CONTENT_READER_END_OF_STREAM and MHD_CONTENT_READER_END_WITH_ERROR, macros that Swift does not import.
private let endOfStream = -1
private let endWithError = -2

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
