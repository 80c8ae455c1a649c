import Downloads
import Formats
import Foundation
import Testing

@Suite struct QuotaDayTests {
    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0, "1970-01-02T00:00:00.000Z"),
        ("1970-01-01T23:59:59.999Z", 0, "1970-01-02T00:00:00.000Z"),
        ("1969-12-31T23:59:59Z", -1, "1970-01-01T00:00:00.000Z"),
        ("2019-08-19T15:23:14Z", 18127, "2019-08-20T00:00:00.000Z"),
    ])
    func dayEndsAtMidnight(_ time: String, _ number: Int64, _ end: String) throws {
        let day = QuotaDay(of: try #require(Date(rfc3339: time)))
        #expect(day.number == number)
        #expect(day.end.rfc3339 == end)
    }

    @Test func onlyQuotasOfTransfersDelayJobs() {
        #expect(!TokenQuotas.none.limitsTransfers)
        #expect(!TokenQuotas(outstandingJobs: 1, requestsPerSecond: 1).limitsTransfers)
        #expect(TokenQuotas(bytesPerDay: 1).limitsTransfers)
        #expect(TokenQuotas(concurrentTransfers: 1).limitsTransfers)
    }
}
