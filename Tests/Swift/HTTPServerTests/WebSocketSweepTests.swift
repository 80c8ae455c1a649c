// What time does to silent WebSockets. The test passes the time to the sweep.

import Base
import CMicroHTTPD
import Glibc
import Testing

@testable import HTTPServer

@Suite struct WebSocketSweepTests {
    private let peers: WebSocketPeers
    private let peer: WebSocketPeer
    /// The other end of the socket.
    private let remote: Descriptor

    init() throws {
        let loop = try WebSocketLoop(limit: 10, bodies: BodyBudget(bytes: 1 << 20))
        peers = WebSocketPeers(loop)
        var ends: [Int32] = [-1, -1]
        let result = socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends)
        try #require(result == 0)
        remote = try #require(Descriptor(result: ends[1]))
        let new = NewWebSocket(
            number: 1, socket: try #require(Descriptor(result: ends[0])), received: [], network: nil,
            receiver: WebSocketReceiver(receive: { _ in nil }, closed: {}))
        peer = WebSocketPeer(new, at: peers.nextSweep)
        peer.isTrusted = true
        peers.peers[1] = peer
    }

    private var isPinged: Bool { peer.isPinged }
    private var isOpen: Bool { peers.peers[1] != nil }

    @Test func closesAPeerThatAnswersNoPing() {
        let start = peers.nextSweep
        for second in stride(from: 0, through: 120, by: 2) {
            #expect(isPinged == (second > 46))
            peers.sweep(at: start + .seconds(second))
        }
        #expect(isOpen)
        peers.sweep(at: start + .seconds(122))
        #expect(!isOpen)
    }

    @Test func pingsAPeerAfterAPauseBeforeItCloses() {
        let start = peers.nextSweep
        peers.sweep(at: start)
        peers.sweep(at: start + .seconds(3_600))
        #expect(isOpen && isPinged)
        peers.sweep(at: start + .seconds(3_604))
        #expect(isOpen)
        peers.sweep(at: start + .seconds(3_606))
        #expect(!isOpen)
    }
}
