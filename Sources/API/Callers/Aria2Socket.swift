import Aria2RPC
import Downloads
import HTTPServer
import Locks
import Storage

/// A WebSocket at `/jsonrpc`. Each call has its own caller, as over HTTP. The socket gets notifications from the first call
/// that is allowed to read, or from the beginning if the request of the socket itself had a caller.
final class Aria2Socket: Sendable {
    private let socket: WebSocket
    private let head: RequestHead
    private let routes: Aria2Routes
    /// The number of the subscription; nil before it.
    private let subscription = Locked<Int?>(nil)

    init(_ socket: WebSocket, head: RequestHead, isAllowed: Bool, routes: Aria2Routes) {
        (self.socket, self.head, self.routes) = (socket, head, routes)
        if isAllowed { subscribe(nil) }
    }

    var receiver: WebSocketReceiver {
        WebSocketReceiver(receive: { [self] in await reply(to: $0) }, closed: { [self] in unsubscribe() })
    }

    private func reply(to text: [UInt8]) async -> WebSocketReply? {
        guard routes.isAvailable else {
            // The client connects again, to another node if there is one.
            socket.close()
            return nil
        }
        let callers = Aria2Callers(head: head, needsToken: false, routes: routes)
        let (reply, memory) = await routes.reply(to: text, callers) { secret throws(RPCError) in
            let caller = try callers.caller(secret)
            if routes.service.maySee(caller) { subscribe(secret) }
            return caller
        }
        return WebSocketReply(reply.text, memory: memory)
    }

    private func subscribe(_ secret: String?) {
        let subscriber = RPCNotifier.Subscriber(
            isAllowed: { [head, routes] in routes.mayRead(head, secret) }, send: { [socket] in socket.send($0) },
            end: { [socket] in socket.close() })
        let isNew = subscription.withLock { number in
            guard number == nil else { return false }
            number = routes.service.notifier.add(subscriber)
            return true
        }
        if isNew { socket.trust() }
    }

    private func unsubscribe() {
        if let number = subscription.withLock({ $0.take() }) { routes.service.notifier.remove(number) }
    }
}
