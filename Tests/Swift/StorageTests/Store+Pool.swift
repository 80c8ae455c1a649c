import GRDB

@testable import Storage

extension Store {
    /// The connections to the SQLite database.
    var pool: DatabasePool { (engine as! SQLiteEngine).connections.pool }
}
