/// The answer to the first request with an `Idempotency-Key`.
public struct RememberedAnswer: Sendable, Equatable {
    public var location: String?
    public var body: [UInt8]

    public init(location: String?, body: [UInt8]) {
        self.location = location
        self.body = body
    }
}
