import Base
import Downloads
import Foundation
import Logging
import PostgresClient
import Storage

/// A store in a PostgreSQL database, which several services can share: its nodes. Each group commit begins by locking the row
/// `journal`, so one node writes at a time (docs/decisions/0025-one-writer-of-the-cluster.md).
package final class PostgresEngine: StoreEngine, StoreDatabase {
    /// The address of the server, without the password.
    let name: String
    private let target: PostgresTarget
    private let readers: PostgresReaders
    let writer: PostgresWriter
    private let made = Locked(0)
    /// nil in tests of the engine alone.
    let membership: PostgresMembership?
    private let channel: String
    /// The journal when the store was opened.
    let start: JournalPosition

    /// Connects, creates or upgrades the tables, and makes the service a node.
    ///
    /// - Parameters:
    ///   - requiresDurability: whether a server that may lose acknowledged changes is refused.
    ///   - node: nil in tests of the engine alone.
    /// - Throws: `StoreError.serverUnsuitable`, `databaseFromNewerVersion`, `databaseAway`, `databaseInUse`; `folderUnusable` if the
    ///   data folder is a copy.
    init(url: String, requiresDurability: Bool, node: PostgresMembership.Applicant?) throws(StoreError) {
        do {
            target = try PostgresTarget(url: url)
            name = target.description
            let reach = try ServerReach()
            readers = PostgresReaders(target, reach)
            writer = PostgresWriter(reach)
            let connection = try writer.connection(to: target)
            if node != nil { try NotificationCheck.run(on: connection, target) }
            if requiresDurability { try PostgresServerSettings.requireDurability(of: connection, name: name) }
            try PostgresSchema.migrate(connection, name: name)
            channel = try PostgresNode.channel(on: connection)
            if let node {
                let joined = try PostgresMembership(node, target, reach, channel, connection)
                membership = joined
                start = joined.start.position
            } else {
                membership = nil
                let row = try connection.execute(PostgresStatement("SELECT commits, last FROM journal"))[0]
                start = JournalPosition(commits: try row.value(0), lastEvent: try row.value(1))
            }
            writer.position = start.commits
        } catch {
            throw StoreError(error)
        }
    }

    package var cluster: (any Cluster)? { membership }
    package var activity: DatabaseActivity {
        DatabaseActivity(statements: readers.statements + writer.statements, commits: made.withLock { $0 })
    }
    /// The server checks its pages itself.
    package var damage: String? { nil }
    package var upkeep: EngineUpkeep { .statistics(count: analyze) }

    package func read<Value>(_ body: (SQLConnection) throws -> Value) throws -> Value { try readers.read(body) }

    package func change(_ body: (SQLConnection) throws -> Void) throws {
        _ = try transact({ try body($0.db) }, { CommitNotice(jobs: .any) })
    }

    package func commit(
        _ body: (CommitGroup) throws -> Void, notice: () -> CommitNotice
    ) throws(CommitFailure) -> Int64? {
        do {
            return try transact(body, notice)
        } catch {
            let fault = StoreError(error)
            throw CommitFailure(error: fault, isOver: !fault.canPass, isUncertain: writer.uncertain != nil)
        }
    }

    package func maintain() {}

    @Sendable func analyze() throws {
        let grown = try read { try $0.values(Self.grownTables, as: String.self) }
        guard !grown.isEmpty else { return }
        var options = PostgresConnection.Options()
        options.applicationName = "fetchd statistics"
        let connection = try PostgresConnection(to: target, options: options)
        defer { connection.close() }
        for table in grown { try connection.execute(PostgresStatement("ANALYZE \(table)", isPrepared: false)) }
    }

    /// The server does the same once a minute, unless an administrator has changed that. A queue grows faster.
    private static let grownTables = """
        SELECT CAST(quote_ident(relname) AS text) FROM pg_class JOIN pg_stat_user_tables AS counted USING (relname)
        WHERE pg_class.oid = counted.relid AND relnamespace = CAST(current_schema() AS regnamespace)
            AND n_mod_since_analyze > 1000 + 0.2 * GREATEST(reltuples, 0)
        """

    package func probe() throws {
        try requireLease()
        try writer.connection(to: target).execute(PostgresStatement("SELECT last FROM journal FOR UPDATE"))
    }

    /// A node that others can take for dead stores nothing, even if the server can be reached again.
    private func requireLease() throws(StoreError) {
        if let loss = membership?.lease.loss { throw loss }
        guard membership?.holdsLease ?? true else { throw .leaseEnded }
    }

    package func close() {
        membership?.leave()
        writer.close()
        readers.close()
    }

    private func transact(_ body: (CommitGroup) throws -> Void, _ notice: () -> CommitNotice) throws -> Int64? {
        var attempts = GroupAttempts()
        defer { writer.group = nil }
        do {
            return try transact(&attempts, body, notice)
        } catch {
            writer.uncertain = attempts.uncertain ?? writer.uncertain
            throw error
        }
    }

    private func transact(
        _ attempts: inout GroupAttempts, _ body: (CommitGroup) throws -> Void,
        _ notice: () -> CommitNotice
    ) throws -> Int64? {
        while true {
            let group = try begin(&attempts)
            do {
                if let stored = attempts.stored(before: group) {
                    group.rollBack()
                    return note(stored)
                }
                try body(group.begun(storedFormer: writer.storedUncertain.take()))
                guard try group.commit(to: channel, notice(), isKept: writer.takesTurns) else { return nil }
                writer.lastStored = group.id
                return note(group.position + 1)
            } catch {
                group.rollBack()
                // Another server of the address may accept changes.
                if group.session.failure?.isReadOnly == true { writer.disconnect() }
                try attempts.prepareRepetition(of: group, after: error)
            }
        }
    }

    /// Finds out whether the former group, whose callers got an error, is stored.
    private func settle(before group: PostgresGroup) {
        guard let uncertain = writer.uncertain else { return }
        writer.uncertain = nil
        guard uncertain.isStored(before: group) else { return }
        writer.storedUncertain = uncertain.position + 1
        made.withLock { $0 += 1 }
    }

    private func note(_ position: Int64) -> Int64 {
        writer.position = position
        membership?.position.withLock { $0 = position }
        made.withLock { $0 += 1 }
        return position
    }

    /// Locks the journal. It waits for the group of another node, and for an earlier group of this one whose end is unknown.
    private func begin(_ attempts: inout GroupAttempts) throws -> PostgresGroup {
        while true {
            do {
                try requireLease()
                let connection = try writer.connection(to: target)
                let session = PostgresSession(connection, writer.dialect, .readCommitted)
                let group = PostgresGroup(session, of: membership?.node, membership?.gaps, excluded: attempts.excluded)
                writer.group = group
                let seen = membership?.seen ?? JournalPosition()
                try group.lock(known: writer.position)
                // The lock may have taken long.
                try requireLease()
                guard try isContinued(at: group, attempts, seen, connection) else { continue }
                writer.lastStored = group.previous
                membership?.note(leader: group.leader, at: group.position)
                writer.noteTurn(afterOthers: group.changedByOthers != nil)
                settle(before: group)
                return group
            } catch {
                if let loss = error as? StoreError, loss.isLossOfNode { membership?.lease.lose(loss) }
                writer.group?.rollBack()
                try attempts.prepareConnection(after: error)
            }
        }
    }

    /// Whether the server has all that this process has stored and seen. If not, the group is over.
    ///
    /// - Returns: false if the group must begin again, after a gap in the numbers of the events.
    /// - Throws: `StoreError.changesLost` if this process has to begin again.
    private func isContinued(
        at group: PostgresGroup, _ attempts: GroupAttempts, _ seen: JournalPosition, _ connection: PostgresConnection
    ) throws -> Bool {
        guard let gaps = membership?.gaps, let found = group.found else { return true }
        let lacksOwn = writer.lacks(group.previous) && !attempts.canHaveStored(group.previous)
        guard lacksOwn || gaps.isDoubtful(found, seen) else { return true }
        group.rollBack()
        guard try !gaps.follow(seen, lacksOwn: lacksOwn, on: connection) else { throw StoreError.changesLost }
        return false
    }
}

extension PostgresError: StoreErrorConvertible {
    package var storeError: StoreError {
        switch self {
        case .targetInvalid(let why):
            .serverUnsuitable(why: "The address of the PostgreSQL server is invalid: \(why).")
        // The server has refused the connection, or did not answer.
        case .connectFailed(let report):
            report.condition == .accessRefused
                ? .serverUnsuitable(why: "\(self).") : .databaseAway(why: "\(self)")
        case .statementFailed(let report, _):
            switch report.condition {
            case .diskFull: .outOfSpace
            case .conflict, .connectionEnded, .readOnly, .unavailable: .databaseAway(why: "\(self)")
            case .dataRefused, .accessRefused, .unknownObject, .statementUnknown, .notSupported, .other:
                .failed(why: "\(self)")
            }
        case .connectionLost, .timedOut, .interrupted, .closed, .rolledBack, .outcomeUnknown:
            .databaseAway(why: "\(self)")
        case .parameterInvalid, .columnUnreadable: .failed(why: "\(self)")
        }
    }
}
