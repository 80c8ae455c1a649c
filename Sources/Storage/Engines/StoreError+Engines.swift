import GRDB
import PostgresClient

extension StoreError {
    /// The error of a call below the seam.
    init(_ error: any Error) {
        switch error {
        case let error as StoreError: self = error
        case let error as DatabaseError: self.init(error)
        case let error as PostgresError: self.init(error)
        default: self = .failed(why: String(describing: error))
        }
    }
}
