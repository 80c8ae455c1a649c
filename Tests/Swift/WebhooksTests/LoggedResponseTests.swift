import CurlClient
import Downloads
import Formats
import HTTPSemantics
import TestKit
import Testing

@testable import Webhooks

/// What the delivery log keeps of a response.
@Suite struct LoggedResponseTests {
    /// The test's endpoint has the address 127.0.0.1, which is taken for a public one.
    private static let options: Dispatcher.Options = {
        var options = Dispatcher.Options()
        options.keepsResponse = { _ in true }
        return options
    }()

    private func logged(
        _ status: Int, _ body: [UInt8], _ options: Dispatcher.Options = Self.options
    ) async throws -> Delivery.Attempt? {
        var attempt: Delivery.Attempt?
        try await DispatcherFixture.open(options) { fixture in
            fixture.receiver.answer(to: 1...1) { _ in OriginAnswer(status: status, body: body) }
            try await fixture.declareWebhook()
            try await fixture.happen()
            try await fixture.settle()
            attempt = try await fixture.log.first?.attempts.first
        }
        return attempt
    }

    @Test(arguments: [200, 410, 503]) func keepsTheBeginningOfAResponse(status: Int) async throws {
        let attempt = try #require(try await logged(status, Array(repeating: 0x61, count: 5000)))
        #expect(attempt.status == status)
        #expect(attempt.response == String(repeating: "a", count: 1024))
    }

    /// The heads, without secrets: those of the webhook, cookies, and secrets that the endpoint sends back.
    @Test func keepsTheHeadsOfRequestAndAnswer() async throws {
        try await DispatcherFixture.open(Self.options) { fixture in
            let large = (1...200).map { (name: "X-Large-\($0)", value: String(repeating: "a", count: 100)) }
            fixture.receiver.answer(
                503,
                headers: [("Set-Cookie", "id=1"), ("X-Echo", "it is correct-horse!"), ("X-Empty", "")] + large,
                to: 1...1)
            try await fixture.declareWebhook(headers: [HeaderField(name: "X-Any", value: "correct-horse")])
            try await fixture.happen()
            try await fixture.settle()
            let exchange = try #require(try await fixture.log.first?.attempts.first?.exchange)
            let sent = Dictionary(uniqueKeysWithValues: exchange.request.map { ($0.name, $0.value) })
            #expect(sent["X-Any"] == "[redacted]" && sent["Content-Type"] == "application/json")
            #expect(sent["webhook-signature"]?.hasPrefix("v1,") == true && sent["User-Agent"] == "fetchd-webhooks")
            let answer = try #require(exchange.answer)
            #expect(answer.contains(HeaderField(name: "X-Echo", value: "it is [secret]!")))
            #expect(answer.contains(HeaderField(name: "X-Empty", value: "")))
            #expect(!answer.contains { $0.name == "Set-Cookie" })
            #expect((50...100).contains(answer.count), "\(answer.count)")
        }
    }

    @Test func keepsABinaryResponseAsReplacedText() async throws {
        let attempt = try #require(try await logged(200, [0x61, 0x00, 0xFF, 0x22, 0x0A, 0x62]))
        #expect(attempt.response == "a\u{FFFD}\u{FFFD}\"\nb")
    }

    @Test func keepsNothingOfAnEmptyResponse() async throws {
        let attempt = try #require(try await logged(200, []))
        #expect(attempt.response == nil)
    }

    /// Otherwise a webhook would be a way to read the pages of internal servers.
    @Test(arguments: [200, 404, 503]) func keepsOnlyTheStatusOfAnInternalAddress(status: Int) async throws {
        let attempt = try #require(try await logged(status, Array("secret".utf8), .init()))
        #expect(attempt.status == status)
        #expect(attempt.response == nil && attempt.exchange?.answer == nil)
        #expect(attempt.error?.contains("secret") != true)
    }

    /// The status is in the head. The body is for the log.
    @Test(arguments: [false, true]) func acceptsASuccessWhoseBodyBreaksOffOrDoesNotEnd(_ isStalling: Bool) async throws
    {
        let origin = try Origin()
        let body = Array("Authorization: key-of-the-endpoint".utf8)
        origin.serve("/hook", .fixed(body: body), isStalling ? .stalling(after: 21) : .closing(after: 21))
        try await DispatcherFixture.open(Self.options) { fixture in
            try await fixture.declareWebhook(
                url: origin.url("/hook"), headers: [HeaderField(name: "Authorization", value: "key-of-the-endpoint")])
            try await fixture.happen()
            try await fixture.settle()
            let delivery = try #require(try await fixture.log.first)
            #expect(delivery.state == .acknowledged && delivery.attempts.map(\.status) == [200], "\(delivery)")
            #expect(delivery.attempts.map(\.error) == [nil])
            // The beginning of a secret is not shown.
            #expect(delivery.attempts.map(\.response) == ["Authorization: [secret]"])
        }
    }

    @Test func readsOnlyTheBeginningOfALargeBody() async throws {
        let attempt = try #require(try await logged(200, [UInt8](repeating: 0x61, count: 20 << 20)))
        #expect(attempt.status == 200 && attempt.response?.utf8.count == 1024)
    }

    @Test func asksForTheAddressOfTheEndpoint() async throws {
        var options = Self.options
        options.keepsResponse = { $0 == IPAddress("127.0.0.1") }
        #expect(try await logged(200, Array("ok".utf8), options)?.response == "ok")
        options.keepsResponse = { $0 != IPAddress("127.0.0.1") }
        #expect(try await logged(200, Array("ok".utf8), options)?.response == nil)
    }
}
