import Synchronization

/// Counts the writes that the engine gave up because the service stopped before the disk accepted them. The program
/// reports them in its exit status.
public final class UnstoredChanges: Sendable {
    private let number = Atomic(0)

    public var count: Int { number.load(ordering: .relaxed) }

    public func note() { number.add(1, ordering: .relaxed) }
}
