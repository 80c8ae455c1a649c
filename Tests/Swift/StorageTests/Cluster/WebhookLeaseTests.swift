import Downloads
import Foundation
import PostgresClient
import TestKit
import Testing

@testable import Storage

/// One node at a time posts to a webhook.
@Suite(.onItsOwnThread, .enabled(if: PostgresServer.isAvailable), .sharedPostgresServer)
struct WebhookLeaseTests {
    private let fixture: PostgresFixture
    private let nodes: [TestedNode]
    private let webhook: Webhook

    init() async throws {
        fixture = try PostgresFixture()
        nodes = [try await TestedNode(fixture), try await TestedNode(fixture)]
        webhook = try await nodes[0].store.declareWebhook(
            Name(trusted: "receiver"), of: .default,
            as: WebhookDeclaration(url: "https://receiver/", events: [EventPattern(trusted: "job.*")])
        ).webhook
    }

    /// Which of the nodes may post now.
    private func posts() async throws -> [Bool] {
        var posts: [Bool] = []
        for node in nodes {
            let isDue = try await node.store.webhooksDue().keys == [webhook.key]
            #expect(try await node.store.dueDeliveries(to: webhook.key, limit: 9).isEmpty == !isDue)
            posts.append(isDue)
        }
        return posts
    }

    private func record(_ outcome: DeliveryOutcome = .accepted, at node: TestedNode) async throws {
        let due = try #require(try await node.store.dueDeliveries(to: webhook.key, limit: 1).first)
        let attempt = Delivery.Attempt(
            at: Date(milliseconds: 1000), status: 200, error: nil, latencySeconds: 0.25, response: nil)
        try await node.store.record(attempt, of: due, outcome)
    }

    @Test func theNodeOfTheEventPostsUntilNothingIsPending() async throws {
        _ = try await nodes[1].create()
        #expect(try await posts() == [false, true])
        _ = try await nodes[0].create()
        #expect(try await posts() == [false, true])
        try await record(at: nodes[1])
        #expect(try await posts() == [false, true])
        try await record(at: nodes[1])
        #expect(try await posts() == [false, false])
        _ = try await nodes[0].create()
        #expect(try await posts() == [true, false])
    }

    /// A delivery that is requested again is pending again.
    @Test func theNodeOfTheRequestSendsADeliveryAgain() async throws {
        _ = try await nodes[1].create()
        let delivery = try #require(try await nodes[1].store.dueDeliveries(to: webhook.key, limit: 1).first)
        try await record(at: nodes[1])
        _ = try await nodes[0].store.redeliver(delivery.id)
        #expect(try await posts() == [true, false])
    }

    /// Other attempts are perhaps under way at the node that got 410. So it keeps the lease.
    @Test func theNodeThatFoundTheWebhookGoneSendsItsDeliveriesAgain() async throws {
        _ = try await nodes[1].create()
        _ = try await nodes[1].create()
        let second = try await nodes[1].store.dueDeliveries(to: webhook.key, limit: 2)[1]
        try await record(.gone, at: nodes[1])
        _ = try await nodes[0].store.enableWebhook(webhook.name, of: .default)
        _ = try await nodes[0].store.redeliver(second.id)
        #expect(try await posts() == [false, true])
    }

    /// A webhook that is due can be deleted before its lease is taken.
    @Test func aDeletedWebhookGetsNoLease() async throws {
        let own = try await nodes[0].store.writer.write { [key = webhook.key] in
            try $0.leaseWebhooks([key + 1, key])
        }
        #expect(own == [webhook.key])
    }

    @Test func anotherNodePostsAfterTheEndOfTheFirst() async throws {
        _ = try await nodes[1].create()
        try await nodes[1].store.close()
        #expect(try await nodes[0].store.webhooksDue().keys.isEmpty)
        _ = try await nodes[0].takeOver()
        #expect(try await nodes[0].store.webhooksDue().keys == [webhook.key])
        #expect(try await nodes[0].store.dueDeliveries(to: webhook.key, limit: 9).count == 1)
        // The writer of this node remembers no lease of the other.
        _ = try await nodes[0].create()
        #expect(try await nodes[0].store.dueDeliveries(to: webhook.key, limit: 9).count == 2)
    }

    /// Both ask at the same time for the lease that no node has.
    @Test func oneOfTheOthersGetsTheLease() async throws {
        let third = try await TestedNode(fixture)
        _ = try await third.create()
        try await third.store.close()
        _ = try await nodes[0].takeOver()
        async let first = nodes[0].store.webhooksDue().keys
        async let second = nodes[1].store.webhooksDue().keys
        let keys = try await [first, second]
        #expect(keys.count { $0 == [webhook.key] } == 1 && keys.count { $0.isEmpty } == 1, "\(keys)")
        #expect(try await posts().count { $0 } == 1)
    }

    /// Its workers run later, and its disk may hang until then.
    @Test func nodeThatStartsAgainPostsNothingYet() async throws {
        _ = try await nodes[1].create()
        try await nodes[1].store.close()
        _ = try await TestedNode(fixture, nodes[1].folder, key: nodes[1].key, isStarting: true)
        await nodes[0].store.work(.deliveries).wait()
        #expect(try await nodes[0].store.webhooksDue().keys == [webhook.key])
    }

    @Test func deletedWebhookHasNoLease() async throws {
        _ = try await nodes[1].create()
        try await nodes[0].store.deleteWebhook(webhook.name, of: .default)
        let leases = try fixture.connect().execute(PostgresStatement("SELECT count(*) FROM webhook_leases"))
        #expect(try leases[0].value(0) == Int64(0))
    }
}
