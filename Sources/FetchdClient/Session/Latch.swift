/// A condition that becomes true once. Any number of tasks can wait for it.
final class Latch: Sendable {
    private let waiting = Guarded<[CheckedContinuation<Void, Never>]?>([])

    func open() {
        let released = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting ?? []
        }
        for continuation in released { continuation.resume() }
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = waiting.withLock { waiting in
                waiting?.append(continuation)
                return waiting == nil
            }
            if isOpen { continuation.resume() }
        }
    }
}
