import Locks
import Storage

/// Whether the downloads folder worked at its last inspection. While it does not, no attempt begins and the service is not
/// ready.
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

    /// Whether the next inspection has to write: the folder does not work, or an attempt met an error.
    func takeDoubt() -> Bool {
        state.withLock { state in
            defer { state.isInDoubt = false }
            return state.isInDoubt || state.fault != nil
        }
    }

    /// - Returns: the fault before.
    func note(_ fault: DiskError?) -> DiskError? {
        state.withLock { state in
            defer { state.fault = fault }
            return state.fault
        }
    }
}
