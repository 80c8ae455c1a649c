import HTTPServer
import Locks

/// Keeps the replies to waiting requests for the moment in which a change wakes many of them: most get the same reply,
/// which is rendered once.
final class ReplyCache<Key: Hashable & Sendable>: Sendable {
    private let replies = Locked<[Key: PreparedResponse]>([:])

    /// - Parameters:
    ///   - key: must determine the response.
    ///   - make: called without the lock held.
    func reply(for key: Key, make: () -> Response) -> Reply {
        if let known = replies.withLock({ $0[key] }) { return .prepared(known) }
        let response = make()
        guard let prepared = PreparedResponse(response) else { return .response(response) }
        replies.withLock { replies in
            // Starting again costs less than keeping them in the order of their use.
            if replies.count >= limit { replies.removeAll(keepingCapacity: true) }
            replies[key] = prepared
        }
        return .prepared(prepared)
    }

    private let limit = 64
}
