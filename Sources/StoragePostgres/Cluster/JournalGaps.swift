import Base
import Downloads
import PostgresClient
import Storage

/// The gaps in the numbers of the events, and with them the question whether the server has all that this process has seen.
///
/// A server that takes the place of another one can lack its last commits: a standby that was not synchronous, or a restored
/// copy. Such a server continues the journal at an earlier position. Its next events must not get the numbers of the lost
/// ones, which clients know. So the first service that commits there leaves a gap of `Store.gapAfterLostEvents`. A client whose cursor is in the gap
/// has seen events that are lost.
///
/// The server shows with its timeline that it has been promoted, because each promotion begins a new one. Not all servers tell it.
/// A service that finds that its own commits are lost then makes the gap.
///
/// The memory of a service that has seen lost commits is wrong: its process begins again.
final class JournalGaps: Sendable {
    /// What the server has, by the columns of `columns`.
    struct Found {
        var commits: Int64
        /// The first event after the last gap; 0 if there is no gap.
        var lastGap: Int64
        /// Whether the timeline is that of the last commit, as far as the server tells it.
        var isContinued: Bool
    }

    /// The columns of a query that `Found` has.
    let columns: String
    private let timeline: String
    /// The last gap that this process has followed.
    private let followed = Locked<Int64>(0)

    /// For a process that begins, and has seen nothing.
    init(on connection: PostgresConnection) throws {
        timeline = try Self.timeline(on: connection)
        columns = """
            (SELECT coalesce(max(next_event), 0) FROM journal_gaps) AS last_gap,
            (SELECT coalesce(timeline = \(timeline), true) FROM journal WHERE id = 1) AS is_continued
            """
        _ = try follow(JournalPosition(), on: connection)
    }

    /// An SQL expression: the eight hexadecimal digits of the timeline, which the name of the present log file begins with. NULL if the
    /// server does not tell it, as some that only speak PostgreSQL's protocol.
    private static func timeline(on connection: PostgresConnection) throws -> String {
        let expression =
            "CASE WHEN pg_is_in_recovery() THEN NULL ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END"
        do {
            _ = try connection.execute(PostgresStatement("SELECT \(expression)", isPrepared: false))
            return expression
        } catch {
            guard case .statementFailed = error else { throw error }
            return "CAST(NULL AS text)"
        }
    }

    /// Whether `follow` has to look.
    ///
    /// - Parameter seen: before the server was asked.
    func isDoubtful(_ found: Found, _ seen: JournalPosition) -> Bool {
        found.commits < seen.commits || !found.isContinued || followed.withLock { found.lastGap > $0 }
    }

    /// Follows the gaps that others have made, and makes one if the server continues at an earlier position.
    ///
    /// - Parameters:
    ///   - seen: before `connection` was used.
    ///   - lacksOwn: whether the server lacks the last commit of this process.
    /// - Returns: whether this process has seen commits that are lost.
    func follow(_ seen: JournalPosition, lacksOwn: Bool = false, on connection: PostgresConnection) throws -> Bool {
        try connection.transaction { transaction in
            let journal = try transaction.execute(PostgresStatement(selectJournal))[0]
            let gaps = try transaction.execute(PostgresStatement(Self.selectGaps, [.int8(followed.withLock(\.self))]))
            let (last, commits): (Int64, Int64) = (try journal.value(0), try journal.value(1))
            let (present, former): (String?, String?) = (try journal.optional(2), try journal.optional(3))
            var isLost = lacksOwn || commits < seen.commits
            var isCovered = false
            for gap in gaps {
                if try gap.value(1, as: Int64.self) < seen.commits { isLost = true }
                if try gap.value(0, as: Int64.self) > seen.lastEvent { isCovered = true }
            }
            var newest = try gaps.last?.value(0, as: Int64.self)
            var changes: [PostgresStatement] = []
            let isPromoted = former != nil && present != nil && former != present
            if isPromoted || isLost && !isCovered {
                let next = max(last, seen.lastEvent) + Store.gapAfterLostEvents + 1
                let values: [PostgresValue] = [.int8(next), .int8(last), .int8(commits)]
                changes += [
                    PostgresStatement(Self.insertGap, values),
                    PostgresStatement("UPDATE journal SET last = $1 WHERE id = 1", [.int8(next - 1)]),
                ]
                newest = next
            }
            if present != nil, present != former {
                changes.append(PostgresStatement("UPDATE journal SET timeline = $1 WHERE id = 1", [.text(present)]))
            }
            if !changes.isEmpty { try transaction.commit(with: changes) }
            if let newest { followed.withLock { $0 = max($0, newest) } }
            return isLost
        }
    }

    private var selectJournal: String {
        "SELECT last, commits, \(timeline), timeline FROM journal WHERE id = 1 FOR UPDATE"
    }

    private static let selectGaps =
        "SELECT next_event, commits FROM journal_gaps WHERE next_event > $1 ORDER BY next_event"

    private static let insertGap = """
        INSERT INTO journal_gaps (next_event, last_event, commits, made_at) VALUES ($1, $2, $3, \(ServerTime.now))
        """
}
