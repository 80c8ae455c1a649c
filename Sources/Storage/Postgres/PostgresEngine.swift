import Downloads
import Foundation
import Locks
import PostgresClient

/// A store in a PostgreSQL database. One service has the database at a time, and each group commit begins by locking the row
/// `journal` (docs/decisions/0025-one-writer-of-the-cluster.md).
final class PostgresEngine: StoreEngine, StoreDatabase {
    /// The address of the server, without the password.
    let name: String
    private let target: PostgresTarget
    private let readers: PostgresReaders
    let writer: PostgresWriter
    private let made = Locked(0)

    /// Connects, and creates or upgrades the tables.
    ///
    /// - Parameters:
    ///   - requiresDurability: whether a server that may lose acknowledged changes is refused.
    ///   - sharesTables: whether other services may use the tables at the same time. For tests.
    /// - Throws: `StoreError.serverUnsuitable`, `databaseFromNewerVersion`, `databaseAway`.
    init(url: String, requiresDurability: Bool, sharesTables: Bool = false) throws(StoreError) {
        do {
            target = try PostgresTarget(url: url)
            name = target.description
            readers = PostgresReaders(target)
            writer = PostgresWriter(sharesTables: sharesTables)
            let connection = try writer.connection(to: target)
            if requiresDurability, let fault = try PostgresServerSettings(of: connection).fault {
                throw StoreError.serverUnsuitable(why: "\(name) cannot be used. \(fault)")
            }
            try PostgresSchema.migrate(connection, name: name)
            if !sharesTables { writer.position = try Self.position(connection) }
        } catch {
            throw StoreError(error)
        }
    }

    var commits: Int { made.withLock { $0 } }
    var statements: Int { readers.statements + writer.statements }
    /// The server checks its pages itself.
    var damage: String? { nil }

    func read<Value>(_ body: (SQLConnection) throws -> Value) throws -> Value { try readers.read(body) }

    func change(_ body: (SQLConnection) throws -> Void) throws { _ = try transact { db, _ in try body(db) } }

    func commit(_ body: (SQLConnection, EventNumbers) throws -> Void) throws(CommitFailure) -> Bool {
        do {
            return try transact(body)
        } catch {
            let fault = StoreError(error)
            throw CommitFailure(error: fault, isOver: !fault.canPass, isUncertain: writer.uncertain != nil)
        }
    }

    func attempt(in db: SQLConnection, _ body: () -> Bool) throws -> Bool {
        guard let group = writer.group else { preconditionFailure("a write belongs to a group") }
        return try group.attempt(body)
    }

    func maintain() {}

    func probe() throws {
        try watch()
        try writer.connection(to: target).execute(PostgresStatement("SELECT last FROM journal FOR UPDATE"))
    }

    var isWatched: Bool { true }

    func watch() throws {
        guard writer.uncertain == nil else { return }
        try writer.verify(try Self.position(try writer.connection(to: target)), target)
    }

    private static func position(_ connection: PostgresConnection) throws -> Int64 {
        let rows = try connection.execute(PostgresStatement("SELECT commits FROM journal"))
        guard let row = rows.first else { throw StoreError.failed(why: "the journal has no row") }
        return try row.value(0)
    }

    func close() {
        writer.close()
        readers.close()
    }

    /// - Returns: whether something was changed.
    private func transact(_ body: (SQLConnection, EventNumbers) throws -> Void) throws -> Bool {
        var attempts = GroupAttempts()
        defer { writer.group = nil }
        do {
            return try transact(&attempts, body)
        } catch {
            writer.uncertain = attempts.uncertain ?? writer.uncertain
            throw error
        }
    }

    private func transact(
        _ attempts: inout GroupAttempts, _ body: (SQLConnection, EventNumbers) throws -> Void
    ) throws -> Bool {
        while true {
            let group = try begin(&attempts)
            do {
                if try attempts.isStored(before: group) {
                    group.rollBack()
                    return note(group.position)
                }
                try body(SQLConnection(group.session), group.numbers)
                guard try group.commit() else { return false }
                return note(group.position + 1)
            } catch {
                group.rollBack()
                // Another server of the address may accept changes.
                if group.session.failure?.isReadOnly == true { writer.disconnect() }
                try attempts.prepareRepetition(of: group, after: error)
            }
        }
    }

    /// Finds out whether an earlier commit with an unknown outcome is stored.
    private func settle(before group: PostgresGroup, _ attempts: GroupAttempts) throws {
        let isOfThisGroup = attempts.uncertain?.isStored(before: group) ?? false
        let isOfFormer = writer.uncertain?.isStored(before: group) ?? false
        try writer.verify(group.position, isExplained: isOfThisGroup || isOfFormer, target)
        guard writer.uncertain != nil else { return }
        (writer.uncertain, writer.isUncertainStored) = (nil, isOfFormer)
        if isOfFormer { _ = note(group.position) }
    }

    func takeUncertainStored() -> Bool {
        defer { writer.isUncertainStored = false }
        return writer.isUncertainStored
    }

    private func note(_ position: Int64) -> Bool {
        writer.position = position
        made.withLock { $0 += 1 }
        return true
    }

    /// Locks the journal. It waits for the group of another node, and for an earlier group of this one whose end is unknown.
    private func begin(_ attempts: inout GroupAttempts) throws -> PostgresGroup {
        while true {
            do {
                let session = PostgresSession(try writer.connection(to: target), writer.dialect, .readCommitted)
                let group = PostgresGroup(session, excluded: attempts.excluded)
                writer.group = group
                try group.lock(known: writer.position)
                try settle(before: group, attempts)
                return group
            } catch {
                writer.group?.rollBack()
                try attempts.prepareConnection(after: error)
            }
        }
    }
}
