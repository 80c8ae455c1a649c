import GRDB

@testable import Storage
@testable import StorageSQLite

extension Store {
    /// The connections to the SQLite database.
    var pool: DatabasePool { (engine as! SQLiteEngine).connections.pool }
}
