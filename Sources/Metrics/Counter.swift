import Synchronization

/// A number that only rises. Any thread may increment it, without a lock.
public final class Counter: Sendable {
    private let count = Atomic(0)

    public init() {}

    public var value: Int { count.load(ordering: .relaxed) }

    public func increment() { count.add(1, ordering: .relaxed) }
}
