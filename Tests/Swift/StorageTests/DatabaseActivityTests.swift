import Downloads
import Testing

@testable import Storage

/// The counts of `Store.activity`.
@Suite struct DatabaseActivityTests {
    @Test func countsCommitsThatChangeData() async throws {
        let fixture = try StoreFixture()
        let before = fixture.store.activity
        for _ in 0..<3 { _ = try await fixture.create(2) }
        #expect(fixture.store.activity.commits - before.commits == 3)
        _ = try await fixture.store.jobs(JobQuery())
        #expect(fixture.store.activity.commits - before.commits == 3)
    }

    @Test func countsStatementsOfTheWriterAndOfReaders() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        let atFirst = store.activity.statements
        _ = try await fixture.create()
        let afterWrite = store.activity.statements
        #expect(afterWrite > atFirst)
        _ = try await store.jobs(JobQuery())
        #expect(store.activity.statements > afterWrite)
    }
}
