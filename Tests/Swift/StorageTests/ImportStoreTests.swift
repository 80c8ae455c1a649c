import Downloads
import Foundation
import TestKit
import Testing

@testable import Storage
@testable import StorageSQLite

/// Imports: their positions, their batches, and their staged lists.
@Suite struct ImportStoreTests {
    private let fixture: StoreFixture
    private var store: Store { fixture.store }

    init() throws { fixture = try StoreFixture() }

    private func claim(_ key: String = "k", body: String = "b") -> IdempotencyClaim {
        IdempotencyClaim(caller: "me", route: "POST /import", key: key, fingerprint: Data(body.utf8))
    }

    private func new(_ numbers: Range<Int>, in session: Name = .default) -> [NewJob] {
        numbers.map { NewJob(session: session, spec: JobSpec(url: "https://h/\($0)")) }
    }

    private func begin(
        _ claim: IdempotencyClaim, jobs: Int = 4, quotas: TokenQuotas = .none
    ) async throws -> ImportStatus {
        let creator = JobCreator(visible: .all, token: TokenID("tok_1"), quotas: quotas)
        let beginning = try await store.beginImport(store.makeImportID(), once: claim, of: jobs, by: creator)
        guard case .begun(let status) = beginning else { throw Overdue("The import has an answer already.") }
        return status
    }

    private func end(_ id: ImportID, _ claim: IdempotencyClaim) async throws -> IdempotentResponse {
        try await store.endImport(id, once: claim, audit: nil, change: "") { status in
            IdempotentResponse(location: nil, body: Array("\(status.created) in \(status.batches.map(\.number))".utf8))
        }
    }

    private func cancelAll() async throws {
        for job in try await store.jobs(JobQuery(limit: 1000)).jobs where job.state.isOutstanding {
            _ = try await store.apply(.cancelRequested(keepsPart: false), to: job.id)
        }
    }

    private func finishes() async throws -> [Int] {
        fixture.time.advance(by: 2)
        return try await store.finishDueBatches().map(\.counts.cancelled)
    }

    @Test func keepsTheBatchOpenUntilTheListEnds() async throws {
        let status = try await begin(claim())
        for step in 0..<2 {
            try await store.createJobs(
                new(step * 2..<step * 2 + 2), by: .unlimited, in: status.id, from: step * 2, upTo: step * 2 + 2)
            try await cancelAll()
            #expect(try await finishes().isEmpty)
            #expect(try await store.session(.default).state == .active)
        }
        let answer = try await end(status.id, claim())
        #expect(String(decoding: answer.body, as: UTF8.self) == "4 in [1]")
        #expect(try await store.session(.default).state == .idle)
        #expect(try await finishes() == [4])
        #expect(try await end(status.id, claim()) == answer)
        guard
            case .answered(answer)? = try? await store.beginImport(
                store.makeImportID(), once: claim(), of: 4, by: .unlimited)
        else { return #expect(Bool(false), "The answer is not remembered.") }
    }

    @Test func storesAStepOnce() async throws {
        let status = try await begin(claim())
        for _ in 0..<3 { try await store.createJobs(new(0..<2), by: .unlimited, in: status.id, from: 0, upTo: 2) }
        #expect(try await store.jobs(JobQuery()).jobs.count == 2)
        await #expect(throws: StoreError.importEnded(status.id)) {
            try await store.createJobs(new(2..<4), by: .unlimited, in: status.id, from: 3, upTo: 5)
        }
    }

    @Test func continuesAnInterruptedImportInTheNextBatch() async throws {
        let first = try await begin(claim())
        try await store.createJobs(new(0..<2), by: .unlimited, in: first.id, from: 0, upTo: 2)
        let note = AuditNote(caller: nil, name: nil, address: "a", action: "POST")
        try await store.interruptImport(first.id, audit: note, change: "gone")
        #expect(try await store.audit(after: 0, limit: 10).map(\.change) == ["gone"])
        try await cancelAll()
        #expect(try await finishes() == [2])

        await #expect(throws: StoreError.idempotencyKeyReused("k")) { try await begin(claim(body: "c")) }
        let second = try await begin(claim())
        #expect(second.position == 2 && second.created == 2)
        await #expect(throws: StoreError.importEnded(first.id)) {
            try await store.createJobs(new(2..<4), by: .unlimited, in: first.id, from: 2, upTo: 4)
        }
        try await store.createJobs(new(2..<4), by: .unlimited, in: second.id, from: 2, upTo: 4)
        #expect(String(decoding: try await end(second.id, claim()).body, as: UTF8.self) == "4 in [2]")
        try await cancelAll()
        #expect(try await finishes() == [2])
    }

    @Test func holdsABatchOfEachSession() async throws {
        let (one, two) = (Name("one")!, Name("two")!)
        for name in [one, two] { _ = try await store.declareSession(name, configuration: nil) }
        let status = try await begin(claim())
        try await store.createJobs(
            new(0..<1, in: one) + new(1..<2, in: two) + new(2..<3, in: one), by: .unlimited, in: status.id, from: 0,
            upTo: 3)
        try await cancelAll()
        #expect(try await finishes().isEmpty)
        // A session that is deleted takes no more jobs, and the batches of the others stay open.
        try await store.invalidateSession(two)
        await #expect(throws: StoreError.sessionFinishing(two, index: 0)) {
            try await store.createJobs(new(3..<4, in: two), by: .unlimited, in: status.id, from: 3, upTo: 4)
        }
        _ = try await end(status.id, claim())
        #expect(try await finishes().sorted() == [1, 2])
    }

    @Test func judgesTheQuotaOfTheWholeListAtTheBeginning() async throws {
        await #expect(throws: StoreError.self) {
            try await begin(claim(), jobs: 4, quotas: TokenQuotas(outstandingJobs: 3))
        }
        let status = try await begin(claim(), jobs: 4, quotas: TokenQuotas(outstandingJobs: 4))
        let creator = JobCreator(visible: .all, token: TokenID("tok_1"), quotas: TokenQuotas(outstandingJobs: 4))
        try await store.createJobs(new(0..<3), by: creator, in: status.id, from: 0, upTo: 3)
        let note = AuditNote(caller: nil, name: nil, address: "a", action: "POST")
        try await store.interruptImport(status.id, audit: note, change: "")
        _ = try await begin(claim(), jobs: 4, quotas: TokenQuotas(outstandingJobs: 4))
    }

    @Test func interruptsImportsWithoutAListAndForgetsThemAfterADay() async throws {
        let (lost, kept) = (try await begin(claim("1")), try await begin(claim("2")))
        for status in [lost, kept] {
            try await store.createJobs(new(0..<1), by: .unlimited, in: status.id, from: 0, upTo: 1)
        }
        try await store.interruptImports(exceptOf: [kept.id])
        try await cancelAll()
        #expect(try await finishes().isEmpty)
        try await store.interruptImports(exceptOf: [])
        #expect(try await finishes() == [2])
        #expect(try await store.claim(ofImport: kept.id, route: "r")?.key == "2")
        fixture.time.advance(by: IdempotencyClaim.lifetime + 1)
        _ = try await store.pruneIdempotencyKeys()
        #expect(try await store.claim(ofImport: kept.id, route: "r") == nil)
    }

    // MARK: Lists

    private func staged(_ pieces: [[UInt8]]) async throws -> ImportID {
        let list = try await store.stageList(store.makeImportID(), header: [1, 2])
        for piece in pieces { try await list.append(piece) }
        try await list.finish()
        return list.id
    }

    private func read(_ id: ImportID) async throws -> [[UInt8]] {
        let pieces = try await store.readList(id)
        var read: [[UInt8]] = []
        while let piece = try await pieces.next() { read.append(piece) }
        return read
    }

    private func path(_ id: ImportID) -> String { fixture.folder.path + "/fetchd.list." + id.text }

    @Test func keepsAListSealedForTheUserOfTheServiceOnly() async throws {
        let secret = Array("https://user:secret@host/".utf8)
        let id = try await staged([secret, [UInt8](repeating: 7, count: 100_000)])
        #expect(try await read(id) == [[1, 2], secret, [UInt8](repeating: 7, count: 100_000)])
        #expect(try store.stagedLists() == [id])
        let file = try #require(FileManager.default.contents(atPath: path(id)))
        #expect(file.firstRange(of: Data("secret".utf8)) == nil)
        let mode = try FileManager.default.attributesOfItem(atPath: path(id))[.posixPermissions] as? Int
        #expect(mode == 0o600)
        await store.removeList(id)
        #expect(try store.stagedLists().isEmpty)
    }

    @Test func recognizesAListThatWasCutOrChanged() async throws {
        let id = try await staged([Array("one".utf8), Array("two".utf8)])
        let whole = try #require(FileManager.default.contents(atPath: path(id)))
        for length in 0..<whole.count {
            try whole.prefix(length).write(to: URL(fileURLWithPath: path(id)))
            await #expect(throws: StoreError.self, "\(length)") { try await read(id) }
        }
        for position in stride(from: 0, to: whole.count, by: 5) {
            var changed = whole
            changed[position] ^= 1
            try changed.write(to: URL(fileURLWithPath: path(id)))
            await #expect(throws: StoreError.self, "\(position)") { try await read(id) }
        }
        // The list of another import in its place.
        let other = try await staged([Array("one".utf8)])
        try FileManager.default.removeItem(atPath: path(id))
        try FileManager.default.copyItem(atPath: path(other), toPath: path(id))
        await #expect(throws: StoreError.self) { try await read(id) }
    }
}
