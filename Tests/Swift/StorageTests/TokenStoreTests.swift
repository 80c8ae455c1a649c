import Downloads
import Foundation
import Testing

@testable import Storage
@testable import StorageSQLite

@Suite struct TokenStoreTests {
    private static func digest(_ byte: UInt8) -> TokenDigest { TokenDigest(Array(repeating: byte, count: 32)) }

    private static let bound = Permissions(
        .jobs, in: .matching([SessionPattern(trusted: "films*"), SessionPattern(trusted: "a")]))!

    @Test func tokensSurviveReopening() async throws {
        let fixture = try StoreFixture()
        let expiry = fixture.time.now.addingTimeInterval(60)
        let first = try await fixture.store.createToken(
            NewToken(name: Name(trusted: "films"), grant: Self.bound, expiresAt: expiry), with: Self.digest(1))
        let second = try await fixture.store.createToken(NewToken(grant: .everything), with: Self.digest(2))
        #expect(first.grant == Self.bound)
        #expect(first.createdAt == fixture.time.now)
        #expect(abs(try #require(first.expiresAt).timeIntervalSince(expiry)) < 0.001)
        #expect(fixture.store.tokens.all == [first, second])
        try await fixture.store.close()
        let store = try Store(at: fixture.folder.path, options: fixture.options, time: fixture.time)
        #expect(store.tokens.all == [first, second])
        #expect(store.tokens.match(Self.digest(1), at: fixture.time.now)?.token == first)
        #expect(store.tokens.match(Self.digest(3), at: fixture.time.now) == nil)
        #expect(store.tokens.hasAdministrator)
    }

    @Test func revokedTokenIsGoneAtOnce() async throws {
        let fixture = try StoreFixture()
        let (store, tokens) = (fixture.store, fixture.store.tokens)
        let token = try await store.createToken(NewToken(grant: .everything), with: Self.digest(1))
        #expect(tokens.hasAdministrator)
        try await store.deleteToken(token.id)
        #expect(tokens.match(Self.digest(1), at: fixture.time.now) == nil)
        #expect(!tokens.hasAdministrator)
        #expect(throws: StoreError.noSuchToken(token.id)) { try tokens.token(token.id) }
        await #expect(throws: StoreError.noSuchToken(token.id)) { try await store.deleteToken(token.id) }
    }

    /// An expiry must not open a service to callers without a token.
    @Test func expiredAdministratorStillExists() async throws {
        let fixture = try StoreFixture()
        let tokens = fixture.store.tokens
        let expiry = fixture.time.now.addingTimeInterval(60)
        _ = try await fixture.store.createToken(NewToken(grant: .everything, expiresAt: expiry), with: Self.digest(1))
        #expect(tokens.admitsAdministrator(at: fixture.time.now))
        #expect(!tokens.admitsAdministrator(at: expiry.addingTimeInterval(1)))
        #expect(tokens.hasAdministrator)
    }

    @Test func rotationReplacesSecretAfterOverlap() async throws {
        let fixture = try StoreFixture()
        let (store, tokens, now) = (fixture.store, fixture.store.tokens, fixture.time.now)
        let token = try await store.createToken(NewToken(grant: Self.bound), with: Self.digest(1))
        func accepted(at time: Date) -> [UInt8] {
            (1...3).filter { tokens.match(Self.digest($0), at: time)?.token.id == token.id }
        }
        let rotated = try await store.rotateToken(token.id, to: Self.digest(2), overlap: 60)
        #expect(rotated.formerSecretUntil == now.addingTimeInterval(60))
        #expect(accepted(at: now) == [1, 2])
        #expect(accepted(at: now.addingTimeInterval(60)) == [2])
        // The secret before the previous one is refused at once.
        _ = try await store.rotateToken(token.id, to: Self.digest(3), overlap: 60)
        #expect(accepted(at: now) == [2, 3])
        #expect(try await store.rotateToken(token.id, to: Self.digest(1), overlap: 0).formerSecretUntil == nil)
        #expect(accepted(at: now) == [1])
        await #expect(throws: StoreError.noSuchToken(TokenID("tok_x"))) {
            try await store.rotateToken(TokenID("tok_x"), to: Self.digest(2), overlap: 0)
        }
    }

    @Test func lastUseIsStoredOnceAMinute() async throws {
        let fixture = try StoreFixture()
        let (store, tokens, now) = (fixture.store, fixture.store.tokens, fixture.time.now)
        let token = try await store.createToken(NewToken(grant: Self.bound), with: Self.digest(1))
        func lastUse() throws -> Date? { try tokens.token(token.id).lastUsedAt }
        func commits() -> Int { store.activity.commits }
        #expect(try lastUse() == nil)
        let before = commits()
        try await store.storeTokenUses()
        #expect(commits() == before)
        for second in 0..<60 { _ = tokens.use(Self.digest(1), at: now.addingTimeInterval(Double(second))) }
        #expect(try lastUse() == now)
        try await store.storeTokenUses()
        try await store.storeTokenUses()
        #expect(commits() == before + 1)
        _ = tokens.use(Self.digest(1), at: now.addingTimeInterval(60))
        #expect(try lastUse() == now.addingTimeInterval(60))
        // A rotation does not lose a use that is not stored yet.
        _ = try await store.rotateToken(token.id, to: Self.digest(2), overlap: 0)
        #expect(try lastUse() == now.addingTimeInterval(60))
        try await store.storeTokenUses()
        try await store.close()
        let reopened = try Store(at: fixture.folder.path, options: fixture.options, time: fixture.time)
        #expect(try reopened.tokens.token(token.id).lastUsedAt == now.addingTimeInterval(60))
    }

    /// (The stored use, the use that a node stores, the result), in seconds after the present time.
    @Test(
        arguments: [
            (nil, -90, -90), (-90, -30, -30), (-30, -90, -30), (-30, -30, -30),
            // The clock was set back.
            (3600, -30, -30),
        ] as [(Double?, Double, Double)])
    func laterUseIsKept(_ stored: Double?, _ new: Double, _ expected: Double) async throws {
        let fixture = try StoreFixture()
        let (store, now) = (fixture.store, fixture.time.now)
        let id = try await store.createToken(NewToken(grant: Self.bound), with: Self.digest(1)).id
        for seconds in [stored, new].compactMap(\.self) {
            try await store.writer.write { try $0.noteUses([id: now.addingTimeInterval(seconds)]) }
        }
        let use = try await store.read { try $0.value("SELECT last_used_at FROM tokens", as: Int64.self) }
        #expect(use == now.addingTimeInterval(expected).milliseconds)
    }

    @Test func expiredTokenIsNotNotedAsUsed() async throws {
        let fixture = try StoreFixture()
        let expiry = fixture.time.now.addingTimeInterval(60)
        let token = try await fixture.store.createToken(
            NewToken(grant: Self.bound, expiresAt: expiry), with: Self.digest(1))
        #expect(fixture.store.tokens.use(Self.digest(1), at: expiry)?.token.id == token.id)
        #expect(try fixture.store.tokens.token(token.id).lastUsedAt == nil)
    }

    @Test(arguments: [
        (VisibleSessions.all, ["a", "default", "films", "films-2", "filmt"]),
        (.matching([SessionPattern(trusted: "films*")]), ["films", "films-2"]),
        (.matching([SessionPattern(trusted: "films")]), ["films"]),
        (
            .matching([SessionPattern(trusted: "a"), SessionPattern(trusted: "film*")]),
            ["a", "films", "films-2", "filmt"]
        ),
        (.matching([]), []),
    ])
    func listsHaveOnlyVisibleSessions(_ visible: VisibleSessions, _ expected: [String]) async throws {
        let fixture = try StoreFixture()
        for name in ["a", "films", "films-2", "filmt"] {
            _ = try await fixture.store.declareSession(Name(trusted: name), configuration: nil)
        }
        for name in ["a", "default", "films", "films-2", "filmt"] {
            var spec = JobSpec(url: "https://host/")
            spec.tags = ["t"]
            _ = try await fixture.store.createJobs([NewJob(session: Name(trusted: name), spec: spec)])
        }
        for tag in [nil, "t"] {
            for state in [nil, JobState.Kind.queued] {
                var query = JobQuery(state: state, tag: tag)
                query.visible = visible
                #expect(try await fixture.store.jobs(query).jobs.map(\.session.text).sorted() == expected)
            }
        }
        var events = EventQuery(types: [EventPattern(trusted: "job.created")])
        events.visible = visible
        let page = try await fixture.store.events(events)
        #expect(page.events.map(\.session.text).sorted() == expected)
        let all = try await fixture.store.events(EventQuery()).events
        #expect(all.filter(events.matches).map(\.id) == page.events.map(\.id))
    }

    @Test func invisibleDonorDoesNotExist() async throws {
        let fixture = try StoreFixture()
        let films = Name(trusted: "films")
        _ = try await fixture.store.declareSession(films, configuration: nil)
        let donor = try await fixture.create()[0].id
        let order = NewJob(session: films, spec: JobSpec(url: "https://host/"), resumeFrom: donor)
        let creator = JobCreator(visible: .matching([SessionPattern(trusted: "films")]))
        await #expect(throws: StoreError.noResumeData(donor, why: "the job does not exist", index: 0)) {
            try await fixture.store.createJobs([order], by: creator)
        }
    }
}
