import Synchronization

/// Identifies a transfer across threads. It is never reused within a process.
struct TransferID: Hashable, Sendable {
    private let number: UInt64

    private static let last = Atomic<UInt64>(0)

    init() {
        number = Self.last.add(1, ordering: .relaxed).newValue
    }
}
