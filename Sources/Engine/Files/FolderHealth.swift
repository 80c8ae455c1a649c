import Locks
import Storage

/// Whether the downloads folder works, as far as is known: while it does not, no attempt begins and the service is not ready.
final class FolderHealth: Sendable {
    private struct State {
        var fault: DiskError?
        var isInDoubt = false
    }

    private let state = Locked(State())
    /// Rings when an attempt has met an error of the disk.
    let doubts = AsyncAutoResetEvent()

    /// nil while the folder works.
    var fault: DiskError? { state.withLock { $0.fault } }

    /// An attempt has met an error of the disk.
    func doubt() {
        state.withLock { $0.isInDoubt = true }
        doubts.set()
    }

    /// Whether looking is not enough: something has failed, or is in doubt.
    func takeDoubt() -> Bool {
        state.withLock { state in
            defer { state.isInDoubt = false }
            return state.isInDoubt || state.fault != nil
        }
    }

    /// - Returns: what was known before.
    func note(_ fault: DiskError?) -> DiskError? {
        state.withLock { state in
            defer { state.fault = fault }
            return state.fault
        }
    }
}
