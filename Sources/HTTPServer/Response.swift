import Base
import CMicroHTTPD
import Glibc
import HTTPTypes

public struct Response: Sendable {
    /// 200 or above. The server sends interim responses (1xx) itself.
    public var status: HTTPResponse.Status
    /// The server sets `Date`, `Content-Length`, `Transfer-Encoding` and `Connection`. Of these fields, only
    /// `Connection: close` is used from here. Fields with an empty value are ignored.
    public var headers: HTTPFields
    public var body: Body
    /// The memory that the body takes until the client has read it; nil if it is not counted.
    public var memory: ResponseShare?

    public init(status: HTTPResponse.Status, headers: HTTPFields = [:], body: Body = .none) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Whether a response with this status may have a body (RFC 9110, section 6.4.1).
    var mayHaveContent: Bool { status != .noContent && status != .notModified }

    var withoutContent: Response {
        abandon()
        return Response(status: status, headers: headers)
    }
}

/// The content of a response.
///
/// For HEAD, the handler gives the same body as for GET. The server sends its length and no bytes. (With ``none`` the
/// announced length is 0.) 204 and 304 have no body and announce no length.
public enum Body: Sendable {
    case none
    case bytes([UInt8])
    /// A region of a file, which the kernel sends without copying it into this process.
    case file(FileRegion)
    case stream(ResponseStream)
}

/// `length` bytes of a file from `offset` on, with the open descriptor to read them from. They stay readable if the
/// file is renamed or unlinked.
public final class FileRegion: Sendable {
    private let descriptor: Descriptor
    /// The first byte, counted from the start of the file.
    public let offset: UInt64
    /// The number of bytes. If the file is shorter, the connection is closed.
    public let length: UInt64

    /// - Parameter descriptor: a regular file that is open for reading.
    public init(of descriptor: Descriptor, offset: UInt64 = 0, length: UInt64) {
        self.descriptor = descriptor
        self.offset = offset
        self.length = length
    }

    /// A part of this region, which reads from the same descriptor.
    ///
    /// - Parameter range: bytes of this region; the first byte has the position 0.
    public func part(_ range: ClosedRange<Int64>) -> FileRegion {
        FileRegion(of: descriptor, offset: offset + UInt64(range.lowerBound), length: UInt64(range.count))
    }

    /// A duplicate of the descriptor for one response. The library closes the descriptor that it is given, and a region
    /// may be used for several responses. nil if the process has no descriptor left.
    public func duplicateDescriptor() -> Int32? { descriptor.duplicateForHandover() }

    /// Whether the file contains all bytes of the region. Another program may truncate the file at any time, and the
    /// library would then retry for ever. So this is checked repeatedly while the region is being sent.
    var isComplete: Bool {
        var status = stat()
        guard fstat(descriptor.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        let (end, isOverflow) = offset.addingReportingOverflow(length)
        return !isOverflow && end <= UInt64(status.st_size)
    }
}

/// A response without a file or a stream that is sent many times. It is rendered once in the form of the library, which
/// may send it on many connections at the same time.
public final class PreparedResponse: Sendable {
    public let response: Response
    private let rendered: MHDResponse

    /// nil if memory runs out, or if the response has a file or a stream.
    public init?(_ response: Response) {
        self.response = response.mayHaveContent ? response : response.withoutContent
        guard let rendered = MHDResponse(self.response) else { return nil }
        self.rendered = rendered
    }

    func queue(on handle: OpaquePointer) -> MHD_Result { rendered.queue(response.status, on: handle) }
}

/// The fields that every response has, unless it has its own value for them. They tell browsers not to guess a type, not
/// to run or frame the content, and not to tell other sites the URL; and caches not to keep it for others.
enum SecurityHeaders {
    static let all: [HTTPField] = [
        HTTPField(name: .xContentTypeOptions, value: "nosniff"),
        HTTPField(name: .contentSecurityPolicy, value: "default-src 'none'; frame-ancestors 'none'"),
        HTTPField(name: HTTPField.Name("Referrer-Policy")!, value: "no-referrer"),
        HTTPField(name: .cacheControl, value: "private, no-cache"),
    ]
}
