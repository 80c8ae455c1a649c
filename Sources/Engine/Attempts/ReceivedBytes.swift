import Synchronization

/// Bytes that all transfers together have received since the start.
final class ReceivedBytes: Sendable {
    private let count = Atomic<Int64>(0)

    var bytes: Int64 { count.load(ordering: .relaxed) }

    func add(_ bytes: Int64) { count.wrappingAdd(bytes, ordering: .relaxed) }
}
