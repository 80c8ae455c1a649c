import Downloads
import HTTPSemantics
import TestKit
import Testing

@testable import Webhooks

/// What a webhook says about its endpoint: the headers that it wants, and the certificates that it may have.
@Suite struct EndpointTests {
    @Test func sendsTheHeadersOfTheWebhookWithEveryAttempt() async throws {
        try await DispatcherFixture.open { fixture in
            fixture.receiver.answer(503, to: 1...1)
            try await fixture.declareWebhook(headers: [
                HeaderField(name: "Authorization", value: "Bearer 9f2c"), HeaderField(name: "X-Empty", value: ""),
            ])
            try await fixture.happen()
            try await fixture.settle()
            try await fixture.pass(6)
            let requests = try await fixture.receiver.waitFor(count: 2).map(\.request)
            #expect(requests.map { $0.headers("authorization") } == [["Bearer 9f2c"], ["Bearer 9f2c"]])
            #expect(requests.allSatisfy { $0.header("x-empty") == "" && $0.headers("content-type").count == 1 })
        }
    }

    /// Test servers often answer with the request.
    @Test func hidesValuesOfHeadersInTheLoggedResponse() async throws {
        var options = Dispatcher.Options()
        options.keepsResponse = { _ in true }
        try await DispatcherFixture.open(options) { fixture in
            fixture.receiver.answer(500, body: #"{"X-Key": "5b1f0c", "X-On": "1"}"#)
            try await fixture.declareWebhook(headers: [
                HeaderField(name: "X-Key", value: "5b1f0c"), HeaderField(name: "X-On", value: "1"),
            ])
            try await fixture.happen()
            try await fixture.settle()
            let response = try await fixture.log.first?.attempts.first?.response
            #expect(response == #"{"X-Key": "[secret]", "X-On": "1"}"#)
        }
    }

    /// The log has the first 1,024 bytes of a response, and the secret begins before and ends behind them.
    @Test func hidesTheBeginningOfAHeaderAtTheEndOfTheLoggedResponse() async throws {
        var options = Dispatcher.Options()
        options.keepsResponse = { _ in true }
        try await DispatcherFixture.open(options) { fixture in
            let secret = "5b1f0c9e7d"
            fixture.receiver.answer(500, body: String(repeating: "a", count: 1020) + secret)
            try await fixture.declareWebhook(headers: [HeaderField(name: "X-Key", value: secret)])
            try await fixture.happen()
            try await fixture.settle()
            let response = try await fixture.log.first?.attempts.first?.response
            #expect(response == String(repeating: "a", count: 1020) + "[sec")
        }
    }

    @Test(.enabled(if: TLSOrigin.isAvailable)) func trustsTheAuthorityAndKeysOfTheWebhook() async throws {
        let authority = try await CertificateAuthority()
        let server = try await TLSOrigin(authority.issue())
        let pin = try await server.certificate.pin
        let other = try await Certificate.selfSigned().pin
        let rules: [(TLSRule, Int?)] = [
            (TLSRule(), nil),
            (TLSRule(caFile: authority.caFile), 200),
            (TLSRule(caFile: authority.caFile, pinnedPublicKeys: ["localhost": [other, pin]]), 200),
            (TLSRule(caFile: authority.caFile, pinnedPublicKeys: ["localhost": [other]]), nil),
            (TLSRule(verify: false), 200),
        ]
        try await DispatcherFixture.open { fixture in
            for (index, (rule, status)) in rules.enumerated() {
                let webhook = try await fixture.declareWebhook("hook\(index)", url: server.url("/"), tls: rule)
                _ = try await fixture.store.testWebhook(webhook.name, of: .default)
                try await fixture.settle()
                let attempt = try await fixture.store.deliveries(of: webhook, limit: 1).deliveries.first?.attempts.first
                #expect(attempt != nil && attempt?.status == status, "\(rule): \(String(describing: attempt))")
            }
        }
    }
}
