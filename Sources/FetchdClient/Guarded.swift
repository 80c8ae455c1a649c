import Foundation

final class Guarded<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    /// Do no work in `body` that can block.
    func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }

    var current: Value { withLock { $0 } }

    /// Replaces the value, and returns the former one.
    func exchange(_ value: Value) -> Value {
        withLock { current in
            defer { current = value }
            return current
        }
    }
}

/// Lets one task at a time proceed, in the order of arrival. An actor alone would not: it runs other calls while one is
/// suspended.
actor Turn {
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func take() async {
        guard isTaken else {
            isTaken = true
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    /// Hands the turn to the task that has waited longest.
    func pass() {
        guard !waiting.isEmpty else {
            isTaken = false
            return
        }
        waiting.removeFirst().resume()
    }
}

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
