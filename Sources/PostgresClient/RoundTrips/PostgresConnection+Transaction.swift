extension PostgresConnection {
    /// Runs one transaction. It is rolled back unless the body calls `commit`.
    ///
    /// - Throws: what the body throws.
    @discardableResult
    public func transaction<Value, Failure: Error>(
        _ mode: PostgresTransaction.Mode = .readCommitted,
        _ body: (inout PostgresTransaction) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        var transaction = PostgresTransaction(self, mode)
        do {
            let value = try body(&transaction)
            transaction.rollBack()
            return value
        } catch {
            transaction.rollBack()
            throw error
        }
    }

    /// A transaction that the caller ends, by `commit` or `rollBack`. Nothing else is executed on the connection until then.
    public func begin(_ mode: PostgresTransaction.Mode = .readCommitted) -> PostgresTransaction {
        PostgresTransaction(self, mode)
    }

    /// A connection that cannot roll back is closed, and then the server does it.
    func rollBack() {
        guard isOpen else { return }
        do {
            _ = try perform([PostgresTransaction.rollback], commits: false)
        } catch {
            close()
        }
    }
}
