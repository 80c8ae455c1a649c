/// A write that waits for its commit. The writer's thread calls the methods in the order below, each at most
/// once, except that a group that begins again performs its writes again.
protocol PendingWrite: AnyObject, Sendable {
    /// Makes the change.
    ///
    /// - Returns: false when the change was refused; the engine undoes what it has written.
    func perform(in transaction: Transaction) -> Bool
    /// The database has refused a statement of the change: `perform` counts as refused with this error.
    func refuse(_ error: StoreError)
    /// The commit is durable: calls the commit hook.
    func runCommitHook()
    /// Resumes the caller with the result of `perform`.
    func succeed()
    /// The commit failed: resumes the caller with the error.
    func fail(_ error: StoreError)
}

/// A write whose caller waits on a continuation.
final class ContinuedWrite<Value: Sendable>: PendingWrite, @unchecked Sendable {
    private let body: @Sendable (Transaction) throws -> Value
    private let onCommit: @Sendable (Value) -> Void
    private let continuation: CheckedContinuation<Value, any Error>
    /// Only the writer's thread reads or writes it.
    private var result: Result<Value, any Error>?

    init(
        body: @escaping @Sendable (Transaction) throws -> Value, onCommit: @escaping @Sendable (Value) -> Void,
        continuation: CheckedContinuation<Value, any Error>
    ) {
        self.body = body
        self.onCommit = onCommit
        self.continuation = continuation
    }

    func perform(in transaction: Transaction) -> Bool {
        let outcome = Result { try body(transaction) }
        result = outcome
        if case .success = outcome { return true }
        return false
    }

    func refuse(_ error: StoreError) { result = .failure(error) }

    func runCommitHook() {
        if case .success(let value) = result { onCommit(value) }
    }

    func succeed() {
        switch result {
        case .success(let value): continuation.resume(returning: value)
        case .failure(let error as StoreError): continuation.resume(throwing: error)
        case .failure(let error): continuation.resume(throwing: StoreError(error))
        case nil: continuation.resume(throwing: StoreError.failed(why: "the writer did not begin the change"))
        }
    }

    func fail(_ error: StoreError) { continuation.resume(throwing: error) }
}
