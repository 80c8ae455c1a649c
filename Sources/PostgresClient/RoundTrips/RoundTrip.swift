import CPostgreSQL

/// Sends statements together, with one synchronisation after the last one, and receives their results (libpq's pipeline
/// mode). When a statement fails, the server skips all later ones up to the synchronisation.
struct RoundTrip {
    private enum Step {
        /// The server prepares the statement of this index.
        case preparation(StatementCache.Key, name: String, Int)
        case execution(Int)
    }

    private let input: ConnectionInput
    private var steps: [Step] = []
    private(set) var results: [PostgresResult] = []
    /// The first statement that failed.
    private(set) var failure: (report: PostgresReport, index: Int)?

    init(_ input: ConnectionInput) { self.input = input }

    private var raw: OpaquePointer { input.handle.raw }

    /// - Throws: `lost` if libpq refused a statement. The connection must be closed.
    mutating func send(
        _ statements: [(statement: PostgresStatement, values: EncodedValues)], _ cache: inout StatementCache
    ) throws(RoundTripFailure) {
        guard PQenterPipelineMode(raw) == 1 else { throw input.lost }
        var pending: [StatementCache.Key: String] = [:]
        for (index, (statement, values)) in statements.enumerated() {
            let name = try prepare(statement, values, index, &cache, &pending)
            let isSent = values.withArrays { count, addresses, lengths, formats in
                guard let name else {
                    return PQsendQueryParams(
                        raw, statement.sql, count, values.types, addresses, lengths, formats, Self.binary)
                }
                return PQsendQueryPrepared(raw, name, count, addresses, lengths, formats, Self.binary)
            }
            guard isSent == 1 else { throw input.lost }
            steps.append(.execution(index))
        }
        guard PQpipelineSync(raw) == 1 else { throw input.lost }
    }

    private static let binary: Int32 = 1

    /// - Returns: the name of the prepared statement; nil if it is not to be prepared.
    private mutating func prepare(
        _ statement: PostgresStatement, _ values: EncodedValues, _ index: Int, _ cache: inout StatementCache,
        _ pending: inout [StatementCache.Key: String]
    ) throws(RoundTripFailure) -> String? {
        guard statement.isPrepared else { return nil }
        let key = StatementCache.Key(sql: statement.sql, types: values.types)
        if let known = cache[key] ?? pending[key] { return known }
        guard cache.hasRoom(besides: pending.count) else { return nil }
        let name = cache.nextName()
        guard PQsendPrepare(raw, name, statement.sql, Int32(values.types.count), values.types) == 1 else {
            throw input.lost
        }
        pending[key] = name
        steps.append(.preparation(key, name: name, index))
        return name
    }

    /// - Throws: if the connection must be closed. `failure` is then the statement that had failed before, if there was one.
    mutating func receive(_ cache: inout StatementCache) throws(RoundTripFailure) {
        for step in steps {
            let result = try nextResult()
            switch (result.status, step) {
            case (PGRES_COMMAND_OK, .preparation(let key, let name, _)): cache.note(name, for: key)
            case (PGRES_COMMAND_OK, .execution), (PGRES_TUPLES_OK, .execution), (PGRES_EMPTY_QUERY, .execution):
                results.append(PostgresResult(result))
            case (PGRES_PIPELINE_ABORTED, _): break
            case (_, .preparation(_, _, let index)), (_, .execution(let index)): try note(result, index)
            }
        }
        guard try nextResult().status == PGRES_PIPELINE_SYNC, PQexitPipelineMode(raw) == 1 else { throw input.lost }
    }

    private mutating func note(_ result: ResultHandle, _ index: Int) throws(RoundTripFailure) {
        let report = PostgresReport(of: result.raw, input.redaction)
        guard result.isOfStatement else { throw .lost(report) }
        failure = failure ?? (report, index)
    }

    /// The results of a statement end with nil, so one nil can precede the first result of the next statement.
    private func nextResult() throws(RoundTripFailure) -> ResultHandle {
        for _ in 0..<3 {
            if let result = try input.next() { return result }
        }
        throw input.lost
    }
}
