import Dispatch

/// A way to a port of loopback that the test can cut: then no byte passes, and no connection ends, as if a cable were
/// unplugged. Bytes that were sent during the cut arrive after `mend`.
public final class NetworkPath: Sendable {
    public let port: UInt16
    private let listener: LoopbackSocket
    /// Entered while the path is cut.
    private let cuts = DispatchGroup()
    private let isCut = Monitor(false)

    /// - Parameter target: the port of the server.
    public init(to target: UInt16) throws {
        listener = try LoopbackSocket.listening()
        port = listener.port
        detachThread { [listener, cuts] in
            while let client = listener.accept() {
                detachThread { Self.carry(client, to: target, cuts) }
            }
        }
    }

    deinit {
        mend()
        listener.shutDown()
    }

    public func cut() {
        isCut.withLock { isCut in
            if !isCut { cuts.enter() }
            isCut = true
        }
    }

    public func mend() {
        isCut.withLock { isCut in
            if isCut { cuts.leave() }
            isCut = false
        }
    }

    private static func carry(_ client: LoopbackSocket, to target: UInt16, _ cuts: DispatchGroup) {
        cuts.wait()
        guard let server = try? LoopbackSocket.connected(to: target) else { return client.shutDown() }
        detachThread { pump(from: server, to: client, cuts) }
        pump(from: client, to: server, cuts)
    }

    private static func pump(from source: LoopbackSocket, to sink: LoopbackSocket, _ cuts: DispatchGroup) {
        while true {
            let bytes = source.receive()
            cuts.wait()
            guard !bytes.isEmpty, sink.send(bytes[...]) else { break }
        }
        source.shutDown()
        sink.shutDown()
    }
}
