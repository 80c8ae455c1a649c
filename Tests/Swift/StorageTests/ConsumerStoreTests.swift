import Downloads
import Foundation
import TestKit
import Testing

@testable import Storage

/// Consumers: their positions, and what they have acknowledged.
@Suite struct ConsumerStoreTests {
    private let fixture: StoreFixture
    private var store: Store { fixture.store }
    private let name = Name(trusted: "index")

    init() throws { fixture = try StoreFixture() }

    @discardableResult
    private func declare(
        _ patterns: String..., session: Name? = nil, from: EventID? = nil, visible: VisibleSessions = .all
    ) async throws -> (consumer: Consumer, isNew: Bool) {
        try await store.declareConsumer(
            name, session: session, events: patterns.map { EventPattern(trusted: $0) }, from: from, visible: visible)
    }

    private func events(after: EventID? = nil, limit: Int = 100) async throws -> [EventID] {
        try await store.events(of: name, after: after, limit: limit, visible: .all).page.events.map(\.id)
    }

    private func acknowledge(
        through: EventID? = nil, _ events: EventID..., givenUp: Set<EventID> = []
    ) async throws -> Consumer {
        try await store.acknowledge(
            ConsumerProgress(through: through, events: Set(events), givenUp: givenUp), by: name, visible: .all)
    }

    private func lag() async throws -> ConsumerLag { try await store.consumers(visible: .all)[0].lag }

    @Test func beginsWhereItIsTold() async throws {
        try await fixture.create(2)
        #expect(try await declare("job.*").isNew)
        #expect(try await events().isEmpty)
        try await fixture.create(1)
        #expect(try await events() == [3])
        // The position of an existing consumer stays.
        #expect(try await !declare("job.*", from: 0).isNew)
        #expect(try await events() == [3])
        try await store.deleteConsumer(name, visible: .all)
        try await declare("job.*", from: 0)
        #expect(try await events() == [1, 2, 3])
        #expect(try await events(after: 1, limit: 1) == [2])
        try await declare("session.*")
        #expect(try await events().isEmpty)
        await #expect(throws: StoreError.noSuchEvent(9, last: 3)) {
            try await store.declareConsumer(
                Name(trusted: "other"), session: nil, events: [], from: 9, visible: .all)
        }
    }

    @Test func movesThePositionOverEventsThatAreAcknowledgedInAnyOrder() async throws {
        try await fixture.create(5)
        try await declare("job.*", from: 0)
        #expect(try await acknowledge(2, 4).acknowledgedThrough == 0)
        #expect(try await events() == [1, 3, 5])
        #expect(try await lag().events == 3)
        #expect(try await acknowledge(1).acknowledgedThrough == 2)
        #expect(try await events() == [3, 5])
        let consumer = try await acknowledge(3, 3, givenUp: [5])
        #expect(consumer.acknowledgedThrough == 5 && consumer.givenUp == 1 && consumer.lastGivenUp == 5)
        #expect(try await lag() == ConsumerLag(events: 0, oldestAt: nil))
        // A repetition counts nothing twice.
        #expect(try await acknowledge(2, givenUp: [5]).givenUp == 1)
        try await fixture.create(2)
        #expect(try await lag().oldestAt == fixture.time.now)
        #expect(try await acknowledge(through: 7).acknowledgedThrough == 7)
        #expect(try await events().isEmpty)
        await #expect(throws: StoreError.noSuchEvent(8, last: 7)) { _ = try await acknowledge(8) }
        // The position passes over events of other types.
        try await declare("session.*")
        try await fixture.create(1)
        #expect(try await acknowledge(7).acknowledgedThrough == 8)
    }

    @Test func acknowledgesFinishes() async throws {
        let job = try await fixture.create()[0].id
        try await declare("session.finished", session: .default, from: 0)
        _ = try await store.apply(.cancelRequested(keepsPart: false), to: job)
        fixture.time.advance(by: 2)
        _ = try await store.finishDueBatches()
        let finish = try #require(try await events().first)
        #expect(try await store.unacknowledgedFinishes().map(\.event) == [finish])
        _ = try await acknowledge(finish)
        #expect(try await store.unacknowledgedFinishes().isEmpty)
        let next = try await fixture.create()[0].id
        _ = try await store.apply(.cancelRequested(keepsPart: false), to: next)
        fixture.time.advance(by: 2)
        _ = try await store.finishDueBatches()
        let second = try #require(try await events().first)
        // What a consumer gives up is not acknowledged.
        _ = try await acknowledge(givenUp: [second])
        #expect(try await store.unacknowledgedFinishes().map(\.event) == [second])
    }

    @Test func belongsToWhatItsTokenSees() async throws {
        let films = VisibleSessions.matching([SessionPattern(trusted: "films*")])
        _ = try await store.declareSession(Name(trusted: "films"), configuration: nil)
        try await fixture.create(1)
        _ = try await store.createJobs([NewJob(session: Name(trusted: "films"), spec: JobSpec(url: "https://host/"))])
        try await declare("job.*", from: 0, visible: films)
        #expect(try await events() == [2])
        let other = VisibleSessions.matching([SessionPattern(trusted: "music")])
        #expect(try await store.consumers(visible: other).isEmpty)
        #expect(try await store.consumers(visible: films).count == 1)
        await #expect(throws: StoreError.consumerOfOthers(name)) { try await declare("job.*", visible: other) }
        await #expect(throws: StoreError.noSuchConsumer(name)) {
            try await store.deleteConsumer(name, visible: other)
        }
        await #expect(throws: StoreError.noSuchSession(Name(trusted: "none"))) {
            try await declare("job.*", session: Name(trusted: "none"))
        }
    }

    @Test func areLimited() async throws {
        for number in 0..<Consumer.limit {
            _ = try await store.declareConsumer(
                Name(trusted: "c\(number)"), session: nil, events: [EventPattern(trusted: "job.*")], from: nil,
                visible: .all)
        }
        await #expect(throws: StoreError.tooManyConsumers(limit: Consumer.limit)) { try await declare("job.*") }
    }
}
