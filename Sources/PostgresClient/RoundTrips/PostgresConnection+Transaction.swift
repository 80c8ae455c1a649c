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
            transaction.rollBackUnlessEnded()
            return value
        } catch {
            transaction.rollBackUnlessEnded()
            throw error
        }
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
