// What a client sent, as plain values: the head, which arrives first and can be judged alone, and the whole.

/// A request that has arrived whole.
public struct Request: Sendable, Hashable {
    public var head: RequestHead
    /// The body without any transfer encoding; empty when there was none.
    public var body: [UInt8]

    public init(head: RequestHead, body: [UInt8] = []) {
        self.head = head
        self.body = body
    }
}
