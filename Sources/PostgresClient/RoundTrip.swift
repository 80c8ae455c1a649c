import CPostgreSQL
import Glibc

/// Sends statements together, with one synchronisation after the last one, and receives their results (libpq's pipeline
/// mode). When a statement fails, the server skips all later ones up to the synchronisation.
struct RoundTrip {
    private enum Step {
        case preparation(StatementCache.Key, name: String, Int)
        case execution(Int)
    }

    private let input: ConnectionInput
    private var steps: [Step] = []
    private(set) var results: [PostgresResult] = []
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
            let name = try prepare(statement, values, at: index, in: &cache, pending: &pending)
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
        _ statement: PostgresStatement, _ values: EncodedValues, at index: Int, in cache: inout StatementCache,
        pending: inout [StatementCache.Key: String]
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
            case (PGRES_COMMAND_OK, .preparation(let key, let name, _)): cache.record(name, for: key)
            case (PGRES_COMMAND_OK, .execution), (PGRES_TUPLES_OK, .execution), (PGRES_EMPTY_QUERY, .execution):
                results.append(PostgresResult(result))
            case (PGRES_PIPELINE_ABORTED, _): break
            case (_, .preparation(_, _, let index)), (_, .execution(let index)): try record(result, index)
            }
        }
        guard try nextResult().status == PGRES_PIPELINE_SYNC, PQexitPipelineMode(raw) == 1 else { throw input.lost }
    }

    private mutating func record(_ result: ResultHandle, _ index: Int) throws(RoundTripFailure) {
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

/// Receives results. It sends what is still to be sent meanwhile: a server that waits for its results to be read does not
/// read further statements.
struct ConnectionInput {
    let handle: ConnectionHandle
    let wait: SocketWait
    let deadline: ContinuousClock.Instant
    let redaction: Redaction

    /// The next result.
    ///
    /// - Returns: nil at the end of the results of a statement.
    func next() throws(RoundTripFailure) -> ResultHandle? {
        var isFlushed = flush()
        while PQisBusy(handle.raw) != 0 {
            let socket = PQsocket(handle.raw)
            guard socket >= 0 else { throw lost }
            let occurred = try wait.wait(socket, for: isFlushed ? POLLIN : POLLIN | POLLOUT, until: deadline)
            if occurred & POLLIN != 0, PQconsumeInput(handle.raw) == 0, PQisBusy(handle.raw) != 0 { throw lost }
            isFlushed = flush()
        }
        guard let raw = PQgetResult(handle.raw) else { return nil }
        return ResultHandle(owning: raw)
    }

    /// Reads what the server has sent between two round trips, without waiting: notifications, or why it has closed the
    /// connection. The end of a connection shows only when everything before it was read.
    ///
    /// - Throws: `lost`.
    func takeArrived() throws(RoundTripFailure) {
        for _ in 0..<Self.mostReads {
            let socket = PQsocket(handle.raw)
            guard socket >= 0 else { throw lost }
            guard wait.isReadable(socket) else { return }
            if PQconsumeInput(handle.raw) == 0 { throw lost }
            // It also passes notices on.
            _ = PQisBusy(handle.raw)
        }
    }

    /// A flood of notifications must not keep the connection from its work.
    private static let mostReads = 100

    /// - Returns: false if something is left to be sent. A connection that has failed has nothing left: its end, and why the
    ///   server has ended it, show when results are read.
    private func flush() -> Bool { PQflush(handle.raw) != 1 }

    var lost: RoundTripFailure { .lost(PostgresReport(lost: handle, redaction)) }
}

/// Why the connection cannot be used any more, or why a wait has ended.
enum RoundTripFailure: Error {
    case lost(PostgresReport)
    case timedOut
    case interrupted
}

/// The statements that the server has prepared on one connection.
struct StatementCache {
    /// The same text with other types of values is another statement.
    struct Key: Hashable {
        var sql: String
        var types: [UInt32]
    }

    private var names: [Key: String] = [:]
    private let limit: Int
    /// Names are not used again, so that a statement that failed to be prepared cannot be confused with a later one.
    private var last = 0

    init(limit: Int) { self.limit = limit }

    subscript(key: Key) -> String? { names[key] }

    /// - Parameter pending: the number of statements that are being prepared.
    func hasRoom(besides pending: Int) -> Bool { names.count + pending < limit }

    mutating func nextName() -> String {
        last += 1
        return "s\(last)"
    }

    mutating func record(_ name: String, for key: Key) { names[key] = name }

    /// The server may have lost them, or they do not fit the present tables.
    mutating func removeAll() { names = [:] }
}
