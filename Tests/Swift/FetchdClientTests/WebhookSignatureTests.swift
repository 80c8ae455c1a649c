import Foundation
import Testing

@testable import FetchdClient

/// The test vectors and rules of Standard Webhooks 1.0.0.
@Suite struct WebhookSignatureTests {
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    private static let other = "whsec_" + Data(repeating: 7, count: 32).base64EncodedString()
    private static let id = "msg_p5jXN8AQM9LWM0D4loKWxJek"
    private static let body = Data(#"{"test": 2432232314}"#.utf8)
    private static let signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    private static let wrong = "v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc="
    private static let time = Date(timeIntervalSince1970: 1_614_265_330)

    private func failure(
        body: Data = body, id: String = id, timestamp: String = "1614265330", signature: String = signature,
        secrets: [String] = [secret], now: Date = time
    ) -> WebhookSignature.Failure? {
        do throws(WebhookSignature.Failure) {
            try WebhookSignature.verify(
                body, id: id, timestamp: timestamp, signature: signature, secrets: secrets, now: now)
            return nil
        } catch {
            return error
        }
    }

    @Test func acceptsOfficialVector() { #expect(failure() == nil) }

    @Test func acceptsSecretWithoutPrefix() {
        #expect(failure(secrets: [String(Self.secret.dropFirst(6))]) == nil)
    }

    /// The sender signs with the old and the new secret during a rotation; the receiver may know one of them, or both.
    @Test(arguments: [
        [secret], [other, secret], [secret, other],
    ]) func acceptsAnyPairOfSecretAndSignature(_ secrets: [String]) {
        #expect(
            failure(signature: "\(Self.wrong) \(Self.signature) v2,\(Self.wrong.dropFirst(3))", secrets: secrets) == nil
        )
    }

    @Test func refusesEveryChange() {
        #expect(failure(body: Self.body + Data([0x20])) == .wrongSignature)
        #expect(failure(id: Self.id + "x") == .wrongSignature)
        #expect(failure(timestamp: "1614265331") == .wrongSignature)
        #expect(failure(signature: Self.wrong) == .wrongSignature)
        #expect(failure(secrets: [Self.other]) == .wrongSignature)
        #expect(failure(secrets: []) == .wrongSignature)
    }

    @Test(arguments: [
        "", "v1", "v1,", "v2,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        "v1a,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1O", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1A==",
    ]) func refusesMalformedSignature(_ signature: String) { #expect(failure(signature: signature) == .wrongSignature) }

    /// In seconds of difference to the clock.
    @Test(arguments: [(0, true), (300, true), (-300, true), (301, false), (-301, false)])
    func comparesTimestampWithClock(_ difference: Int, _ isAccepted: Bool) {
        let now = Self.time.addingTimeInterval(Double(difference))
        #expect(failure(now: now) == (isAccepted ? nil : .wrongTime))
    }

    @Test func refusesMalformedTimestampAndSecret() {
        #expect(failure(timestamp: "soon") == .missingHeader("webhook-timestamp"))
        #expect(failure(secrets: ["whsec_short"]) == .invalidSecret)
        #expect(failure(secrets: ["whsec_" + Data(count: 65).base64EncodedString()]) == .invalidSecret)
    }

    @Test func findsHeadersInAnyCase() throws {
        let headers = [
            "Webhook-Id": Self.id, "WEBHOOK-TIMESTAMP": "1614265330", "webhook-signature": Self.signature,
        ]
        try WebhookSignature.verify(Self.body, headers: headers, secrets: [Self.secret], now: Self.time)
        for name in headers.keys {
            #expect(throws: WebhookSignature.Failure.missingHeader(name.lowercased())) {
                try WebhookSignature.verify(
                    Self.body, headers: headers.filter { $0.key != name }, secrets: [Self.secret], now: Self.time)
            }
        }
    }
}
