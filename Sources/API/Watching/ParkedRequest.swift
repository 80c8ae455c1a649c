/// A request that waits for a change, without a task.
///
/// A task that waits costs about 12 KiB, and ten thousand of them that wake at once cost more than their responses. A
/// parked request is a value in the feed. A change calls `look`, on the task of the pump, and most looks answer from
/// memory. Looks may overlap, because only the first reply counts.
final class ParkedRequest: TopicObserver {
    /// The result of a look.
    enum Finding {
        case reply(Reply)
        case keepWaiting
        /// Memory does not have the answer.
        case askStore
    }

    /// What a request waits for.
    struct Wait: Sendable {
        let topics: [Topic]
        let duration: Duration
        /// Must not block. The last look of a request finds a reply, or asks the store.
        let look: @Sendable (_ isLast: Bool) -> Finding
        /// Returns nil to keep waiting, except in the last look.
        let askStore: @Sendable (_ isLast: Bool) async -> Reply?
    }

    private let wait: Wait
    private let settle: @Sendable (Reply) -> Void

    var topics: [Topic] { wait.topics }

    init(_ wait: Wait, settle: @escaping @Sendable (Reply) -> Void) {
        self.wait = wait
        self.settle = settle
    }

    func ring() { look(isLast: false) }
    func expire() { look(isLast: true) }
    func close() { look(isLast: true) }

    private func look(isLast: Bool) {
        switch wait.look(isLast) {
        case .reply(let reply): settle(reply)
        case .keepWaiting: break
        case .askStore:
            Task { [wait, settle] in
                if let reply = await wait.askStore(isLast) { settle(reply) }
            }
        }
    }
}
