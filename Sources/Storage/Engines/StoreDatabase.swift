/// A database that is being opened. All calls block their thread.
protocol StoreDatabase: AnyObject {
    /// Reads one snapshot of the committed data.
    func read<Value>(_ body: (SQLConnection) throws -> Value) throws -> Value
    /// Makes one change while the store is opened. Later, the writer makes all changes.
    func change(_ body: (SQLConnection) throws -> Void) throws
}

extension Connections: StoreDatabase {}
