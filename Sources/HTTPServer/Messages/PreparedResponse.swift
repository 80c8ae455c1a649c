import CMicroHTTPD
import HTTPTypes

/// A response without a file or a stream that is sent many times. It is rendered once in the form of the library, which
/// may send it on many connections at the same time.
public final class PreparedResponse: Sendable {
    /// The same response as a value, for a connection that needs other fields.
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
