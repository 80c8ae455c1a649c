import Downloads
import Glibc

/// A system call on files that failed.
struct DiskError: Error, Sendable, Equatable {
    let code: Int32
    /// The failed operation, for the message: "write the part".
    let action: String

    init(_ action: String, code: Int32 = errno) {
        self.code = code
        self.action = action
    }

    var reason: String {
        isLeaseLost ? "this node has lost its lease, and others may run its jobs" : String(cString: strerror(code))
    }

    /// The code of a change that this service may not make, because it has lost its lease. No call on files returns it.
    static let leaseLost = ECANCELED

    /// Whether this service has lost its lease. Nothing has changed then.
    var isLeaseLost: Bool { code == Self.leaseLost }

    /// The file is no longer the file that was opened or written.
    var isForeign: Bool { code == ESTALE }

    /// The failure of the job: the disk has no space, the disk cannot store the name, or the disk does not work.
    var failure: Failure {
        switch code {
        case ENOSPC, EDQUOT, EFBIG: Failure(.noSpace, "The disk has no room to \(action): \(reason).")
        case ENAMETOOLONG, EINVAL, ELOOP, EXDEV: Failure(.destinationInvalid, "Could not \(action): \(reason).")
        default: Failure(.storageError, "Could not \(action): \(reason).")
        }
    }
}
