import Synchronization

/// Counts what was given up because the service stopped before the disk took it. The exit status of the program says so.
public final class UnstoredChanges: Sendable {
    private let number = Atomic(0)

    public var count: Int { number.load(ordering: .relaxed) }

    public func note() { number.add(1, ordering: .relaxed) }
}
