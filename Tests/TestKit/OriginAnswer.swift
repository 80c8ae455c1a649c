/// What the origin is going to send, as a value: a resource makes a good one, behaviours spoil it, and
/// `OriginConnection` sends whatever it then is.
public struct OriginAnswer: Sendable {
    /// How the end of the body is told.
    public enum Framing: Sendable {
        case length
        /// A length that is not the body's.
        case falseLength(Int)
        case chunked(trailers: [(name: String, value: String)] = [])
        /// No length; closing the connection is the end.
        case untilClose
        /// Nothing is added: the headers say what they say.
        case unstated
    }

    /// What happens when so many bytes of the body have been sent.
    public enum Incident: Sendable {
        /// Nothing more is sent, and the connection stays open.
        case stall
        /// The connection is closed in an orderly way.
        case close
        /// The connection is reset.
        case reset
        /// Nothing is sent until the gate opens.
        case wait(Gate)
    }

    public var status: Int
    /// As on the status line.
    public var httpVersion = "HTTP/1.1"
    public var headers: [(name: String, value: String)]
    public var body: [UInt8]
    public var framing = Framing.length
    /// Incidents and the number of body bytes that go before each. Those of one offset happen in the order given; an
    /// offset beyond the body is never reached.
    public var incidents: [(offset: Int, incident: Incident)] = []
    /// Sent before the head, as it is: interim responses, or garbage.
    public var prelude: [UInt8] = []
    /// The time between two bytes of the head.
    public var headByteInterval: Duration?
    public var bytesPerSecond: Int?
    public var closesConnection = false

    public init(status: Int = 200, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Sets a header, in place of one that is there.
    public mutating func set(_ name: String, _ value: String?) {
        headers.removeAll { $0.name.lowercased() == name.lowercased() }
        if let value { headers.append((name, value)) }
    }

    public func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}
