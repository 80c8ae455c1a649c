/// A complete request.
public struct Request: Sendable, Hashable {
    public var head: RequestHead
    /// The body without transfer encoding; empty if there is none.
    public var body: [UInt8]

    public init(head: RequestHead, body: [UInt8] = []) {
        self.head = head
        self.body = body
    }
}
