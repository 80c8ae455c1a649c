import Foundation
import Testing

@testable import HTTPSemantics

@Suite struct RequestQuotaTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var fields: [(name: String, value: String)]
        var quota: RequestQuota?
        var testDescription: String { "\(fields)" }

        init(_ fields: [(String, String)], _ quota: RequestQuota?) {
            self.fields = fields.map { (name: $0.0, value: $0.1) }
            self.quota = quota
        }
    }

    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    static let cases: [Case] = [
        // The item list of the present draft.
        Case([("RateLimit", "\"default\";r=50;t=30")], RequestQuota(remaining: 50, seconds: 30)),
        Case([("ratelimit", "default; r=0; t=30")], RequestQuota(remaining: 0, seconds: 30)),
        Case(
            [("RateLimit", "\"d\";r=5;t=10"), ("RateLimit-Policy", "\"d\";q=100;w=60")],
            RequestQuota(remaining: 5, seconds: 10, whole: 100)),
        // Of several policies, the one with the fewest requests a second.
        Case([("RateLimit", "\"hour\";r=500;t=3600, \"burst\";r=9;t=1")], RequestQuota(remaining: 500, seconds: 3600)),
        Case(
            [("RateLimit", "\"a\";r=9;t=1"), ("RateLimit", "\"b\";r=0;t=5")], RequestQuota(remaining: 0, seconds: 5)),
        Case([("RateLimit", "\"default\";r=50")], nil),
        Case([("RateLimit", "\"default\";r=-1;t=5")], nil),
        Case([("RateLimit", "nonsense \" here")], nil),
        Case([("RateLimit", "\"a, b; r\";r=3;t=4")], RequestQuota(remaining: 3, seconds: 4)),
        // The dictionary of draft 07.
        Case([("RateLimit", "limit=100, remaining=50, reset=5")], RequestQuota(remaining: 50, seconds: 5, whole: 100)),
        Case([("RateLimit", "limit=100, remaining=50")], nil),
        // Fields of their own.
        Case(
            [("RateLimit-Limit", "100, 100;w=60"), ("RateLimit-Remaining", "0"), ("RateLimit-Reset", "7")],
            RequestQuota(remaining: 0, seconds: 7, whole: 100)),
        Case(
            [("X-RateLimit-Remaining", "12"), ("X-RateLimit-Reset", "60")], RequestQuota(remaining: 12, seconds: 60)),
        // The time of the reset: in seconds, in milliseconds, as a date.
        Case(
            [("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1800000090")],
            RequestQuota(remaining: 0, seconds: 90)),
        Case(
            [("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1800000090000")],
            RequestQuota(remaining: 0, seconds: 90)),
        Case(
            [("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1799999990")],
            RequestQuota(remaining: 0, seconds: 0)),
        Case(
            [("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "Fri, 15 Jan 2027 08:01:00 GMT")],
            RequestQuota(remaining: 0, seconds: 60)),
        Case([("X-RateLimit-Remaining", "3")], nil),
        Case([("X-RateLimit-Remaining", "many"), ("X-RateLimit-Reset", "60")], nil),
        Case([("X-RateLimit-Remaining", "-1"), ("X-RateLimit-Reset", "60")], nil),
        // A longer time is taken for a day.
        Case([("RateLimit", "\"d\";r=0;t=900000")], RequestQuota(remaining: 0, seconds: 86_400)),
        Case(
            [("X-RateLimit-Remaining", "1e300"), ("X-RateLimit-Reset", "1e300")],
            RequestQuota(remaining: 1_000_000_000_000_000, seconds: 86_400)),
        Case([("Content-Type", "text/plain")], nil),
    ]

    @Test(arguments: cases) func reads(_ example: Case) {
        #expect(RequestQuota(example.fields, at: Self.now) == example.quota)
    }
}
