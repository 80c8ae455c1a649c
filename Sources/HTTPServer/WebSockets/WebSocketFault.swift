/// Why a WebSocket is closed by the server (RFC 6455, section 7.4.1).
public enum WebSocketFault: UInt16, Error, Sendable {
    /// The service stops, or cannot serve the socket now.
    case goingAway = 1001
    case protocolError = 1002
    /// A binary message.
    case unsupportedData = 1003
    /// A text that is not UTF-8.
    case invalidText = 1007
    /// The peer is not allowed to stay, or reads too slowly.
    case policyViolation = 1008
    case messageTooLarge = 1009
    /// The messages of all sockets take too much memory now.
    case tryAgainLater = 1013
}
