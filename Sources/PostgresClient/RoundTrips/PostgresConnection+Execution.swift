import CPostgreSQL

extension PostgresConnection {
    /// Executes statements in one round trip and one transaction, and commits.
    ///
    /// - Returns: a result for each statement.
    /// - Throws: `PostgresError`.
    @discardableResult
    public func execute(_ statements: [PostgresStatement]) throws(PostgresError) -> [PostgresResult] {
        try perform(statements, commits: true)
    }

    /// Executes one statement in a transaction of its own.
    @discardableResult
    public func execute(_ statement: PostgresStatement) throws(PostgresError) -> PostgresResult {
        try perform([statement], commits: true)[0]
    }

    /// Reads one snapshot of the committed data, in one round trip.
    ///
    /// - Returns: a result for each statement.
    /// - Throws: `statementFailed` also if a statement changes something.
    public func read(_ statements: [PostgresStatement]) throws(PostgresError) -> [PostgresResult] {
        let begin = PostgresTransaction.Mode.snapshot.begin
        do {
            let results = try perform([begin] + statements + [PostgresTransaction.commit], commits: false)
            return Array(results.dropFirst().dropLast())
        } catch .statementFailed(let report, let index) {
            rollBack()
            throw .statementFailed(report, index: max(0, index - 1))
        }
    }

    /// Executes a script of several statements without values, such as a migration, in one transaction.
    public func execute(script: String) throws(PostgresError) {
        guard !script.utf8.contains(0) else { throw .parameterInvalid(why: "the script contains a NUL") }
        let input = try begin()
        var failure: PostgresReport?
        do throws(RoundTripFailure) {
            guard PQsendQuery(input.handle.raw, script) == 1 else { throw input.lost }
            while let result = try input.next() {
                guard result.status == PGRES_FATAL_ERROR else { continue }
                let report = PostgresReport(of: result.raw, redaction)
                guard result.isOfStatement else { throw .lost(report) }
                failure = report
            }
        } catch {
            throw close(after: error, mayBeStored: failure == nil)
        }
        if let failure { throw .statementFailed(failure, index: 0) }
    }
}

extension PostgresConnection {
    /// - Parameter commits: whether the statements end a transaction that may have changed something.
    func perform(_ statements: [PostgresStatement], commits: Bool) throws(PostgresError) -> [PostgresResult] {
        guard !statements.isEmpty else { return [] }
        let encoded = try Self.encode(statements)
        var roundTrip = RoundTrip(try begin())
        do {
            try roundTrip.send(encoded, &self.statements)
            try roundTrip.receive(&self.statements)
        } catch {
            // The server skips a commit after a statement that has failed.
            throw close(after: error, mayBeStored: commits && roundTrip.failure == nil)
        }
        takeNotifications()
        if let failure = roundTrip.failure {
            if failure.report.condition.outdatesStatements { self.statements.removeAll() }
            throw .statementFailed(failure.report, index: failure.index)
        }
        return roundTrip.results
    }

    private static func encode(
        _ statements: [PostgresStatement]
    ) throws(PostgresError) -> [(statement: PostgresStatement, values: EncodedValues)] {
        try statements.map { statement throws(PostgresError) in
            guard !statement.sql.utf8.contains(0) else { throw .parameterInvalid(why: "a statement contains a NUL") }
            return (statement, try EncodedValues(statement.values))
        }
    }

    /// Begins a round trip. A connection that the server has closed meanwhile is noticed before anything is sent.
    private func begin() throws(PostgresError) -> ConnectionInput {
        let input = try input()
        guard ContinuousClock.now < input.deadline else { throw .timedOut }
        do {
            try input.takeArrived()
        } catch {
            throw close(after: error, mayBeStored: false)
        }
        takeNotifications()
        countRoundTrip()
        return input
    }

    /// Closes the connection, because its state is unknown.
    func close(after failure: RoundTripFailure, mayBeStored: Bool) -> PostgresError {
        close()
        switch (failure, mayBeStored) {
        case (.lost(let report), false): return .connectionLost(report)
        case (.lost(let report), true): return .outcomeUnknown(report)
        case (.timedOut, false): return .timedOut
        case (.timedOut, true): return .outcomeUnknown(PostgresReport(.other, message: "no answer in time"))
        case (.interrupted, false): return .interrupted
        case (.interrupted, true): return .outcomeUnknown(PostgresReport(.other, message: "the call was interrupted"))
        }
    }
}

extension PostgresCondition {
    fileprivate var outdatesStatements: Bool { self == .statementUnknown || self == .notSupported }
}
