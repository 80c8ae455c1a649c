import Base
import Downloads
import Foundation
import PostgresClient
import TestKit
import Testing

@testable import Storage
@testable import StoragePostgres

/// A server continues at an earlier position of the journal: it has lost the last commits.
@Suite(.onItsOwnThread, .enabled(if: PostgresServer.isAvailable), .sharedPostgresServer)
struct LostCommitsTests {
    private static let limits = AdmissionLimits(jobs: 100, connectionsPerHost: 100)

    /// The last commits of a server, which can be taken away again.
    private struct Tail {
        let connection: PostgresConnection
        private let journal, commits: [PostgresRow]

        init(of fixture: PostgresFixture) throws {
            connection = try fixture.connect()
            journal = Array(try connection.execute(PostgresStatement("SELECT last, commits FROM journal")))
            commits = Array(try connection.execute(PostgresStatement("SELECT node, id FROM last_commits")))
        }

        /// As if the server had been replaced by one that has nothing of what came after `init`. The jobs that were made since go, and
        /// the others run again.
        func remove() throws {
            let rows = try commits.map { (try $0.value(0, as: Int64.self), try $0.value(1, as: String.self)) }
            let (last, position): (Int64, Int64) = (try journal[0].value(0), try journal[0].value(1))
            try connection.transaction { transaction in
                try transaction.execute(PostgresStatement("SELECT 1 FROM journal FOR UPDATE"))
                try transaction.commit(with: [
                    PostgresStatement("DELETE FROM events WHERE id > $1", [.int8(last)]),
                    PostgresStatement("UPDATE journal SET last = $1, commits = $2", [.int8(last), .int8(position)]),
                    PostgresStatement("DELETE FROM last_commits"),
                    PostgresStatement(
                        "INSERT INTO last_commits (node, id) SELECT * FROM unnest($1, $2)",
                        [.int8Array(rows.map(\.0)), .textArray(rows.map(\.1))]),
                ])
            }
        }
    }

    private func untilLost(_ node: TestedNode) async throws {
        _ = try await eventually("the end of the node") { node.isLost.withLock(\.self) ? true : nil }
        #expect((node.store.engine as? PostgresEngine)?.membership?.lease.loss == .changesLost)
    }

    /// The node whose commits are lost, and one that has read them.
    @Test func processesThatKnowLostCommitsEnd() async throws {
        let fixture = try PostgresFixture()
        let (writing, reading) = (try await TestedNode(fixture), try await TestedNode(fixture))
        _ = try await writing.create()
        let tail = try Tail(of: fixture)
        _ = try await writing.create()
        let lost = try await writing.store.lastEvent()
        _ = try await eventually("the event") { reading.store.lastDelivered == lost ? true : nil }
        try tail.remove()
        try await untilLost(reading)
        try await untilLost(writing)
        await #expect(throws: StoreError.self) { _ = try await writing.create() }
    }

    /// Another node has committed since, so the position is as before. The row of the node shows the loss.
    @Test func ownCommitIsLookedForByItsIdentifier() async throws {
        let fixture = try PostgresFixture()
        let node = try await TestedNode(fixture)
        _ = try await node.create()
        let tail = try Tail(of: fixture)
        _ = try await node.create()
        let lost = try await node.store.lastEvent()
        try tail.connection.transaction { transaction in
            try transaction.execute(PostgresStatement("SELECT 1 FROM journal FOR UPDATE"))
            try transaction.commit(with: [
                PostgresStatement("UPDATE last_commits SET id = 'former' WHERE node = $1", [.int8(node.number)])
            ])
        }
        await #expect(throws: StoreError.changesLost) { _ = try await node.create() }
        try await untilLost(node)
        try await node.store.close()
        let again = try await TestedNode(fixture, node.folder, key: node.key)
        _ = try await again.create()
        #expect(try await again.store.lastEvent() == lost + Store.gapAfterLostEvents + 1)
    }

    @Test func cursorOfALostEventIsRefused() async throws {
        let fixture = try PostgresFixture()
        let node = try await TestedNode(fixture)
        _ = try await node.create()
        let tail = try Tail(of: fixture)
        let kept = try await node.store.lastEvent()
        for _ in 0..<3 { _ = try await node.create() }
        let lost = try await node.store.lastEvent()
        try tail.remove()
        try await untilLost(node)
        try await node.store.close()
        let again = try await TestedNode(fixture, node.folder, key: node.key)
        let next = lost + Store.gapAfterLostEvents + 1
        #expect(try await again.store.lastEvent() == next - 1)
        let empty = try await again.store.events(EventQuery(after: kept))
        #expect(empty.events.isEmpty && empty.nextAfter == next - 1)
        for cursor in [kept + 1, lost, next - 2] {
            await #expect(throws: StoreError.eventsLost(after: cursor, firstAvailable: next), "\(cursor)") {
                _ = try await again.store.events(EventQuery(after: cursor))
            }
        }
        _ = try await again.create()
        for cursor in [kept, next - 1] {
            #expect(try await again.store.events(EventQuery(after: cursor)).events.map(\.id) == [next])
        }
    }

    /// A commit whose answer is lost is looked for by the same row. It is not taken for a lost one.
    @Test func commitWithAnUnknownOutcomeIsNoLostCommit() async throws {
        let fixture = try PostgresFixture()
        let node = try await TestedNode(fixture)
        _ = try await node.create()
        let engine = try #require(node.store.engine as? PostgresEngine)
        let connection = try fixture.connect()
        let query = PostgresStatement("SELECT id FROM last_commits WHERE node = $1", [.int8(node.number)])
        let stored: String = try connection.execute(query)[0].value(0)
        // As if the answer to this commit had not come.
        let error = PostgresError.outcomeUnknown(PostgresReport(.unavailable, message: "no answer"))
        node.store.writer.queue.sync {
            engine.writer.lastStored = "the commit before"
            engine.writer.uncertain = UncertainCommit(id: stored, position: 0, error: error)
        }
        _ = try await node.create()
        #expect(node.isLost.withLock { $0 } == false)
    }

    /// The standby lacks the last commits when it takes the place of the primary.
    @Test(.timeLimit(.minutes(5))) func failoverToAnAsynchronousStandby() async throws {
        let primary = try await PostgresServer()
        let standby = try await PostgresServer(following: primary)
        let fixture = try PostgresFixture(on: PostgresServer.socketURL(of: primary, standby))
        let node = try await TestedNode(fixture)
        let other = try await TestedNode(fixture)
        let job = try await node.create()
        _ = try await node.store.admitJobs(Self.limits) { _ in }
        let kept = try await node.store.lastEvent()
        try await untilReplicated(kept, from: primary)
        try await standby.stop()
        _ = try await node.store.apply(.attemptFailed(StoreFixture.failure), to: job.id)
        let lost = try await node.store.lastEvent()
        _ = try await eventually("the event") { other.store.lastDelivered == lost ? true : nil }
        try await primary.kill()
        try await standby.start()
        try await standby.promote()
        try await untilLost(node)
        try await untilLost(other)
        try await node.store.close()
        try await other.store.close()
        let again = try await TestedNode(fixture, node.folder, key: node.key)
        #expect(try await again.store.job(job.id).state == .running(.attempting))
        #expect(try await again.store.recoverInterrupted().interrupted == 1)
        _ = try await again.create()
        #expect(try await again.store.lastEvent() > kept + Store.gapAfterLostEvents)
        await #expect(throws: StoreError.self) { _ = try await again.store.events(EventQuery(after: lost)) }
        #expect(try await again.store.events(EventQuery(after: kept)).events.count == 1)
        try await again.store.close()
    }

    /// The standby has all commits: nothing is lost, and no process has to end.
    @Test(.timeLimit(.minutes(5))) func failoverThatLosesNothing() async throws {
        let primary = try await PostgresServer()
        let standby = try await PostgresServer(following: primary)
        let fixture = try PostgresFixture(on: PostgresServer.socketURL(of: primary, standby))
        let nodes = [try await TestedNode(fixture), try await TestedNode(fixture)]
        let seen = Locked<[EventID]>([])
        nodes[1].store.addCommitObserver { commit in seen.withLock { $0 += commit.events.map(\.id) } }
        _ = try await nodes[0].create()
        let kept = try await nodes[0].store.lastEvent()
        try await untilReplicated(kept, from: primary)
        try await primary.kill()
        try await standby.promote()
        let next = kept + Store.gapAfterLostEvents + 1
        _ = try await eventually("a new job") { try? await nodes[0].create() }
        _ = try await eventually("its event") { seen.withLock { $0.contains(next) } ? true : nil }
        for node in nodes {
            #expect(node.isLost.withLock { $0 } == false)
            try await node.store.close()
        }
    }

    private func untilReplicated(_ event: EventID, from primary: PostgresServer) async throws {
        let connection = try PostgresConnection(to: PostgresTarget(url: primary.socketURL))
        let query = PostgresStatement(
            "SELECT replay_lsn >= pg_current_wal_lsn() FROM pg_stat_replication WHERE state = 'streaming'")
        _ = try await eventually("the standby to have the event \(event)") {
            try connection.execute(query).first?.value(0, as: Bool.self) == true ? true : nil
        }
    }
}
