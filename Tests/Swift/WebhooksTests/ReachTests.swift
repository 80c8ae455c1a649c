import CurlClient
import Downloads
import Formats
import TestKit
import Testing

@testable import Webhooks

/// The addresses that deliveries may be posted to.
@Suite struct ReachTests {
    private func attempts(
        to url: String? = nil, reaching reach: WebhookReach, allowing networks: [String] = [], denying: [String] = []
    ) async throws -> (log: Delivery.Attempt, requests: Int, connections: Int) {
        var options = Dispatcher.Options()
        let policy = AddressPolicy(
            allowing: networks.compactMap { Network($0) }, denying: denying.compactMap { Network($0) })
        options.publicAddresses = { policy }
        var found: (log: Delivery.Attempt, requests: Int, connections: Int)?
        try await DispatcherFixture.open(options) { fixture in
            try await fixture.declareWebhook(url: url, reaching: reach)
            try await fixture.happen()
            try await fixture.settle()
            let log = try #require(try await fixture.log.first?.attempts.first)
            found = (log, fixture.receiver.received.count, fixture.receiver.connectionCount)
        }
        return try #require(found)
    }

    @Test func anyReachPostsToInternalAddress() async throws {
        let found = try await attempts(reaching: .any)
        #expect(found.log.status == 204)
        #expect(found.requests == 1)
    }

    @Test func publicReachRefusesInternalAddressBeforeConnecting() async throws {
        let found = try await attempts(reaching: .public)
        #expect(found.log.status == nil)
        #expect(found.log.response == nil)
        #expect(
            found.log.error == "The endpoint did not take it: connections to its address 127.0.0.1 are not allowed.")
        #expect(found.connections == 0)
    }

    /// The error does not say whether anything listens.
    @Test func refusalOfDeadAddressIsTheSame() async throws {
        let port = try HangUpPort().number
        let (open, dead) = (
            try await attempts(reaching: .public),
            try await attempts(to: "http://127.0.0.1:\(port)/", reaching: .public)
        )
        #expect(open.log.error == dead.log.error)
        #expect(dead.log.status == nil && dead.log.response == nil)
    }

    @Test(arguments: ["localhost", "127.1", "0x7f.0.0.1", "[::ffff:127.0.0.1]", "[64:ff9b::127.0.0.1]", "[::1]"])
    func publicReachRefusesEverySpelling(host: String) async throws {
        let canary = try Canary()
        let found = try await attempts(to: "http://\(host):\(canary.port)/", reaching: .public)
        #expect(found.log.error?.hasSuffix("are not allowed.") == true, "\(found.log)")
        #expect(try canary.connections() == 0)
    }

    @Test func publicReachPostsToAllowedNetwork() async throws {
        #expect(try await attempts(reaching: .public, allowing: ["127.0.0.0/8"]).log.status == 204)
        let denied = try await attempts(reaching: .public, allowing: ["127.0.0.0/8"], denying: ["127.0.0.1/32"])
        #expect(denied.log.status == nil)
        #expect(denied.connections == 0)
    }

    /// The connection that an administrator's webhook has opened is not used by another webhook.
    @Test func publicReachRefusesKeptConnection() async throws {
        try await DispatcherFixture.open { fixture in
            try await fixture.declareWebhook("administrator")
            try await fixture.happen()
            try await fixture.settle()
            #expect(fixture.receiver.received.count == 1)
            try await fixture.store.deleteWebhook(Name(trusted: "administrator"), of: .default)
            try await fixture.declareWebhook(reaching: .public)
            try await fixture.happen()
            try await fixture.settle()
            #expect(try await fixture.log.first?.attempts.first?.status == nil)
            #expect(fixture.receiver.received.count == 1)
        }
    }
}
