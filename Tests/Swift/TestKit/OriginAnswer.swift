/// The response that the origin is going to send, as a value: a resource creates a correct one, behaviours change it,
/// and `OriginConnection` sends the result.
public struct OriginAnswer: Sendable {
    /// How the end of the body is marked.
    public enum Framing: Sendable {
        case length
        /// A `Content-Length` that differs from the body's.
        case falseLength(Int)
        case chunked(trailers: [(name: String, value: String)] = [])
        /// No length; the connection is closed at the end.
        case untilClose
        /// No framing is added to the headers.
        case unstated
    }

    /// What happens after a number of body bytes.
    public enum Incident: Sendable {
        /// Nothing more is sent, and the connection stays open.
        case stall
        /// The connection is reset.
        case close
        /// The connection is reset.
        case reset
        /// Nothing is sent until the gate opens.
        case wait(Gate)
    }

    public var status: Int
    /// The version in the status line.
    public var httpVersion = "HTTP/1.1"
    public var headers: [(name: String, value: String)]
    public var body: [UInt8]
    public var framing = Framing.length
    /// Incidents with the number of body bytes before each. Incidents at one offset happen in the given order; an
    /// offset beyond the body is never reached.
    public var incidents: [(offset: Int, incident: Incident)] = []
    /// Bytes before the head, unchanged: interim responses, or garbage.
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

    /// Sets a header, in place of an existing one; nil removes it.
    public mutating func set(_ name: String, _ value: String?) {
        headers.removeAll { $0.name.lowercased() == name.lowercased() }
        if let value { headers.append((name, value)) }
    }

    public func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}
