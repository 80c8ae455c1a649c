import Locks
import Storage

/// Whether the downloads folder worked at its last inspection. While it does not, no attempt begins, and the service
/// reports that it is not ready.
final class FolderHealth: Sendable {
    private struct State {
        var fault: DiskError?
        var isInDoubt = false
    }

    private let state = Locked(State())
    /// Set when an attempt has met a disk error.
    let doubts = AsyncAutoResetEvent()

    /// nil while the folder works.
    var fault: DiskError? { state.withLock { $0.fault } }

    /// Called when an attempt has met a disk error.
    func doubt() {
        state.withLock { $0.isInDoubt = true }
        doubts.set()
    }

    /// Whether the next inspection has to write, because the folder does not work or an attempt met an error. Clears
    /// the doubt.
    func takeDoubt() -> Bool {
        state.withLock { state in
            defer { state.isInDoubt = false }
            return state.isInDoubt || state.fault != nil
        }
    }

    /// - Returns: the fault of the inspection before.
    func note(_ fault: DiskError?) -> DiskError? {
        state.withLock { state in
            defer { state.fault = fault }
            return state.fault
        }
    }
}
