/// What time requires of WebSockets.
extension WebSocketPeers {
    /// Pings silent peers, and closes those that do not answer or were never trusted.
    func sweep(at now: Connection.Instant) {
        guard nextSweep <= now else { return }
        nextSweep = now + .milliseconds(Int(Self.sweepMilliseconds))
        for peer in Array(peers.values) {
            // While a message is answered, nothing is read.
            let silence = peer.task == nil ? now - peer.lastHeard : .zero
            if let end = peer.drainsUntil {
                if end <= now { close(peer) }
            } else if silence > Self.longestSilence {
                close(peer)
            } else if !peer.isTrusted, now - peer.openedAt > Self.timeOfStrangers {
                beginClosing(peer, WebSocketFault.policyViolation.rawValue)
            } else if silence > Self.pingInterval, !peer.isPinged {
                peer.isPinged = true
                send(WebSocketFrame.ping, to: peer)
            }
        }
    }

    private static let pingInterval = Duration.seconds(45)
    private static let longestSilence = Duration.seconds(120)
    private static let timeOfStrangers = Duration.seconds(60)
}
