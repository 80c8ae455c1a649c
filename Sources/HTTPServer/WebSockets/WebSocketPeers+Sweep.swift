import Locks

/// What time requires of WebSockets.
extension WebSocketPeers {
    /// Pings silent peers, and closes those that do not answer or were never trusted. After a late sweep it closes none
    /// for a while.
    func sweep(at now: Connection.Instant) {
        guard nextSweep <= now else { return }
        grace.beganTurn(at: now, planned: nextSweep)
        let mayClose = grace.end(at: now) == nil
        nextSweep = now + .milliseconds(Int(Self.sweepMilliseconds))
        for peer in Array(peers.values) {
            // While a message is answered, nothing is read.
            let silence = peer.task == nil ? now - peer.lastHeard : .zero
            if let end = peer.drainsUntil {
                if end <= now, mayClose { close(peer) }
            } else if silence > Self.longestSilence, mayClose {
                close(peer)
            } else if !peer.isTrusted, mayClose, now - peer.openedAt > Self.timeOfStrangers {
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
