import HTTPServer
import Locks

/// Keeps the replies to waiting requests for the moment in which a change wakes many of them: most get the same reply,
/// which is rendered once.
final class ReplyCache<Key: Hashable & Sendable>: Sendable {
    private let replies = Locked<[Key: PreparedResponse]>([:])
    private let answers: AnswerBudget

    init(_ answers: AnswerBudget) { self.answers = answers }

    /// - Parameters:
    ///   - key: must determine the response.
    ///   - make: called without the lock held.
    func reply(for key: Key, make: () -> Response) -> Reply {
        if let known = replies.withLock({ $0[key] }) { return .prepared(known) }
        let response = make()
        guard let prepared = answers.prepared(response) else { return .response(response) }
        replies.withLock { replies in
            // Starting again costs less than keeping them in the order of their use.
            if replies.count >= limit { replies.removeAll(keepingCapacity: true) }
            replies[key] = prepared
        }
        return .prepared(prepared)
    }

    private let limit = 64
}

extension AnswerBudget {
    /// The response in the form that is kept for many clients. It counts as long as it is kept, or sent to one of them.
    ///
    /// - Returns: nil if there is no memory for it. Then each client gets a response of its own, which counts for its caller.
    func prepared(_ response: Response) -> PreparedResponse? {
        guard case .bytes(let bytes) = response.body else { return PreparedResponse(response) }
        let memory = share(of: "kept responses")
        // Once as a value, and once in the form of the library.
        guard memory.resize(to: 2 * bytes.count) else { return nil }
        var response = response
        response.memory = memory
        return PreparedResponse(response)
    }
}
