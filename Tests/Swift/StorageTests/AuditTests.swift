import Dispatch
import Downloads
import Foundation
import Testing

@testable import Storage

@Suite struct AuditTests {
    private static func note(_ address: String = "127.0.0.1", action: String = "GET /v1/jobs") -> AuditNote {
        AuditNote(caller: nil, name: nil, address: address, action: action)
    }

    @Test func changeAndItsEntryShareACommit() async throws {
        let fixture = try StoreFixture()
        let (store, films) = (fixture.store, Name(trusted: "films"))
        let note = AuditNote(
            caller: "FETCHD_TOKEN", name: nil, address: "127.0.0.1", action: "PUT /v1/sessions/{session}",
            target: "films")
        let before = store.activity.commits
        _ = try await store.declareSession(films, configuration: nil, audit: note)
        #expect(store.activity.commits == before + 1)
        // Nothing changes.
        _ = try await store.declareSession(films, configuration: nil, audit: note)
        _ = try await store.declareSession(films, configuration: SessionConfiguration(), audit: note)
        var configuration = SessionConfiguration()
        configuration.maxConcurrentJobs = 1
        _ = try await store.declareSession(films, configuration: configuration, audit: note)
        let digest = TokenDigest(Array(repeating: 1, count: 32))
        let token = try await store.createToken(NewToken(grant: .everything), with: digest, audit: note)
        // A refused change has no entry.
        await #expect(throws: StoreError.self) {
            try await store.deleteToken(TokenID("tok_x"), audit: note)
        }
        let entries = try await store.audit(after: 0, limit: 10)
        #expect(entries.map(\.note.target) == ["films", "films", token.id.text])
        #expect(entries.allSatisfy { $0.outcome == .done && $0.reason == nil && $0.count == 1 })
        #expect(entries.allSatisfy { $0.time == fixture.time.now && $0.note.caller == "FETCHD_TOKEN" })
        #expect(try await store.audit(after: entries[1].id, limit: 10) == [entries[2]])
    }

    @Test func equalRefusalsShareAnEntry() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        let first = fixture.time.now
        let before = store.activity.commits
        for second in 0..<100 {
            let time = first.addingTimeInterval(Double(second))
            store.refusals.add(Self.note(), "unauthorized", at: time)
            if second % 10 == 5 { store.refusals.add(Self.note(), "forbidden", at: time) }
        }
        try await store.storeRefusals()
        try await store.storeRefusals()
        #expect(store.activity.commits == before + 1)
        let entries = try await store.audit(after: 0, limit: 10)
        #expect(entries.map(\.reason) == ["unauthorized", "forbidden"])
        #expect(entries.map(\.count) == [100, 10])
        #expect(entries.map(\.time) == [first, first.addingTimeInterval(5)])
        #expect(entries.allSatisfy { $0.outcome == .refused })
    }

    /// A reader of the log first stores the refusals, and a worker can have begun to.
    @Test func refusalsThatAreBeingStoredAreWaitedFor() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        let opened = DispatchSemaphore(value: 0)
        async let held: Void = store.writer.write { _ in opened.wait() }
        store.refusals.add(Self.note(), "unauthorized", at: store.time.now)
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try await store.storeRefusals()
                    return try await store.audit(after: 0, limit: 10).count
                }
            }
            // A call that does not wait returns before.
            try await Task.sleep(for: .milliseconds(100))
            opened.signal()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        try await held
        #expect(counts == [1, 1, 1, 1])
        // It owns the folder of the store.
        withExtendedLifetime(fixture) {}
    }

    @Test func floodOfDifferentRefusalsIsBounded() async throws {
        let fixture = try StoreFixture()
        for number in 0..<5_000 {
            fixture.store.refusals.add(Self.note("address \(number)"), "unauthorized", at: fixture.time.now)
        }
        try await fixture.store.storeRefusals()
        let entries = try await fixture.store.audit(after: 0, limit: 10_000)
        #expect(entries.count == RefusalLog.mostKinds + 1)
        #expect(entries.first { $0.note.address == "others" }?.count == 5_000 - RefusalLog.mostKinds)
    }

    @Test func oldAndSurplusEntriesAreRemoved() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        for _ in 0..<3 {
            store.refusals.add(Self.note(), "forbidden", at: store.time.now)
            try await store.storeRefusals()
            fixture.time.advance(by: Store.auditRetention / 2)
        }
        while try await store.pruneAudit(limit: 1) {}
        #expect(try await store.audit(after: 0, limit: 10).map(\.id) == [3])
        for number in 0..<4 {
            store.refusals.add(Self.note("address \(number)"), "forbidden", at: store.time.now)
            try await store.storeRefusals()
        }
        while try await store.pruneAudit(keeping: 2, limit: 1) {}
        #expect(try await store.audit(after: 0, limit: 10).map(\.note.address) == ["address 2", "address 3"])
    }
}
