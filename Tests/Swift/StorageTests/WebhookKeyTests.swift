import Downloads
import Foundation
import TestKit
import Testing

@testable import Storage

/// The keys that sign requests to webhooks.
@Suite struct WebhookKeyTests {
    private func declare(_ store: Store, _ signatures: [WebhookSignatureScheme]) async throws {
        _ = try await store.declareWebhook(
            Name(trusted: "hook"), of: .default,
            as: WebhookDeclaration(
                url: "https://host/", events: [EventPattern(trusted: "job.*")], signatures: signatures))
    }

    private func signingKeys(_ fixture: StoreFixture) async throws -> [[UInt8]] {
        let due = try await fixture.store.webhooksDue().keys
        let webhook = try #require(due.first)
        let delivery = try #require(try await fixture.store.dueDeliveries(to: webhook, limit: 1).first)
        return delivery.signingKeys.map(\.publicKey)
    }

    @Test func keysAreMadeWhenAWebhookAsksForThem() async throws {
        let fixture = try StoreFixture()
        try await declare(fixture.store, [.v1])
        try await fixture.create()
        #expect(try await fixture.store.webhookKeys().isEmpty)
        #expect(try await signingKeys(fixture).isEmpty)
        try await declare(fixture.store, [.v1a])
        try await declare(fixture.store, [.v1, .v1a])
        let key = try await fixture.store.webhookKeys()
        #expect(key.count == 1 && key[0].expiresAt == nil)
        let shown = try await signingKeys(fixture).map { "whpk_" + Data($0).base64EncodedString() }
        #expect(shown == [key[0].publicKey])
    }

    @Test func formerKeySignsForADay() async throws {
        let fixture = try StoreFixture()
        try await declare(fixture.store, [.v1a])
        try await fixture.create()
        let first = try await fixture.store.webhookKeys()[0]
        try await fixture.store.rotateWebhookKey(audit: nil)
        let both = try await fixture.store.webhookKeys()
        #expect(both.count == 2 && both[0].publicKey != first.publicKey && both[1].publicKey == first.publicKey)
        #expect(both[1].expiresAt == fixture.time.now.addingTimeInterval(24 * 3600))
        #expect(try await signingKeys(fixture).count == 2)
        fixture.time.advance(by: 24 * 3600 + 1)
        #expect(try await fixture.store.webhookKeys() == [both[0]])
        #expect(try await signingKeys(fixture).count == 1)
    }
}
