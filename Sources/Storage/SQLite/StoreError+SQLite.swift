import GRDB

extension StoreError {
    init(_ error: DatabaseError) {
        switch error.resultCode {
        case .SQLITE_FULL: self = .outOfSpace
        case .SQLITE_BUSY: self = .busy
        // MISUSE: the connection was closed after a disk failure and could not be opened again.
        case .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_MISUSE:
            self = .diskFailed(why: error.message ?? "\(error.extendedResultCode)")
        default: self = .failed(why: String(describing: error))
        }
    }
}
