import Downloads
import Foundation
import TestKit
import Testing

@testable import Storage

/// Tests that repeated requests create jobs once.
@Suite struct IdempotencyTests {
    private func claim(_ key: String = "k", body: String = "b", caller: String = "me", route: String = "POST /")
        -> IdempotencyClaim
    {
        IdempotencyClaim(caller: caller, route: route, key: key, fingerprint: Data(body.utf8))
    }

    private func ask(_ fixture: StoreFixture, _ claim: IdempotencyClaim) async throws -> IdempotentResponse {
        try await fixture.store.createJobs([NewJob(session: .default, spec: JobSpec(url: "https://h/"))], once: claim) {
            IdempotentResponse(location: $0[0].id.text, body: Array($0[0].id.text.utf8))
        }
    }

    private func count(_ fixture: StoreFixture) async throws -> Int {
        try await fixture.store.jobs(JobQuery()).jobs.count
    }

    @Test func returnsTheFirstAnswerForARepeatedKey() async throws {
        let fixture = try StoreFixture()
        let first = try await ask(fixture, claim())
        #expect(try await ask(fixture, claim()) == first)
        #expect(try await count(fixture) == 1)
    }

    @Test func createsOneSetOfJobsForConcurrentRequestsWithOneKey() async throws {
        let fixture = try StoreFixture()
        let answers = try await withThrowingTaskGroup(of: IdempotentResponse.self) { group in
            for _ in 0..<100 { group.addTask { try await ask(fixture, claim()) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(answers.map(\.location)).count == 1)
        #expect(try await count(fixture) == 1)
    }

    @Test func refusesAKeyThatIsReusedWithOtherContent() async throws {
        let fixture = try StoreFixture()
        _ = try await ask(fixture, claim())
        await #expect(throws: StoreError.idempotencyKeyReused("k")) { try await ask(fixture, claim(body: "c")) }
        #expect(try await count(fixture) == 1)
    }

    @Test func allowsTheSameKeyForOtherCallersAndRoutes() async throws {
        let fixture = try StoreFixture()
        _ = try await ask(fixture, claim())
        _ = try await ask(fixture, claim(caller: "you"))
        _ = try await ask(fixture, claim(route: "POST /batch"))
        #expect(try await count(fixture) == 3)
    }

    @Test func doesNotRememberARefusedRequest() async throws {
        let fixture = try StoreFixture()
        let unknown = [NewJob(session: Name(trusted: "nobody"), spec: JobSpec(url: "https://h/"))]
        await #expect(throws: StoreError.self) {
            try await fixture.store.createJobs(unknown, once: claim()) { _ in
                IdempotentResponse(location: nil, body: [])
            }
        }
        _ = try await ask(fixture, claim())
        #expect(try await count(fixture) == 1)
    }

    @Test func allowsReuseOfAKeyAfterADay() async throws {
        let fixture = try StoreFixture()
        _ = try await ask(fixture, claim())
        fixture.time.advance(by: 86_399)
        _ = try await ask(fixture, claim())
        #expect(try await count(fixture) == 1)
        fixture.time.advance(by: 1)
        _ = try await ask(fixture, claim())
        #expect(try await count(fixture) == 2)
        fixture.time.advance(by: 86_400)
        #expect(try await !fixture.store.pruneIdempotencyKeys())
        let left = try await fixture.store.read { db in
            try db.value("SELECT count(*) FROM idempotency_keys", as: Int.self)
        }
        #expect(left == 0)
    }
}
