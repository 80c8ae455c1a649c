import Foundation
import Testing

@testable import Formats

private let now = Date(milliseconds: 1_566_228_194_250)

@Suite struct RFC3339Tests {
    @Test func readsAndWritesRFC3339() throws {
        #expect(now.rfc3339 == "2019-08-19T15:23:14.250Z")
        #expect(Date(rfc3339: "2019-08-19T15:23:14.250Z") == now)
        #expect(Date(rfc3339: "2019-08-19T15:23:14Z") == Date(milliseconds: 1_566_228_194_000))
        #expect(Date(rfc3339: "2019-08-19T17:23:14+02:00") == Date(milliseconds: 1_566_228_194_000))
        #expect(Date(rfc3339: "2019-08-20T14:22:14+22:59") == Date(milliseconds: 1_566_228_194_000))
        #expect(Date(rfc3339: "2019-08-19T14:53:14-00:30") == Date(milliseconds: 1_566_228_194_000))
        for zone in ["+24:00", "+00:60", "++1:00", "+0100", "+01", "", "+01:0x"] {
            #expect(Date(rfc3339: "2019-08-19T15:23:14" + zone) == nil, "\(zone)")
        }
        #expect(Date(rfc3339: "yesterday") == nil)
        for text in ["015-01-01T00:00:00Z", "2019-8-19T15:23:14Z", "2019-08-19T15:23:14.Z", "2019-08-19 15:23:14Z"] {
            #expect(Date(rfc3339: text) == nil, "\(text)")
        }
        #expect(Date(rfc3339: "2019-08-19T15:23:14.250000Z") == now)
        // Invalid days and hours.
        for text in ["2019-02-30T00:00:00Z", "2019-13-01T00:00:00Z", "2019-01-01T24:00:00Z", "2019-00-10T00:00:00Z"] {
            #expect(Date(rfc3339: text) == nil, "\(text)")
        }
        #expect(Date(rfc3339: "2020-02-29T23:59:59Z") != nil)
        for thousandths in 0..<1000 {
            let date = Date(milliseconds: 1_566_228_194_000 + Int64(thousandths))
            let digits = String(1000 + thousandths).dropFirst()
            #expect(date.rfc3339 == "2019-08-19T15:23:14.\(digits)Z")
        }
    }

    /// The form that most clients write is not read by Foundation.
    @Test func readsTheCommonFormAsFoundationReadsIt() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<5_000 {
            let numbers = [1_600...9_999, 0...14, 0...33, 0...25, 0...60, 0...61].map { range in
                let number = Int.random(in: range, using: &random)
                return String(repeating: "0", count: number < 10 ? 1 : 0) + String(number)
            }
            let fraction = Bool.random() ? "" : ".\(Int.random(in: 100...999))"
            let text =
                "\(numbers[0])-\(numbers[1])-\(numbers[2])T\(numbers[3]):\(numbers[4]):\(numbers[5])\(fraction)Z"
            let read = Date(readingCommon: text)
            let exists = Date(readingAny: text)
            // Foundation reads a 60th minute or second as the next one, and the common form leaves that to it.
            let isLeft = read == nil && (numbers[4] == "60" || numbers[5] >= "60")
            #expect(isLeft || read?.milliseconds == exists?.milliseconds, "\(text)")
            #expect(Date(rfc3339: text)?.milliseconds == exists?.milliseconds, "\(text)")
        }
        #expect(Date(readingCommon: "2020-02-29T23:59:59Z") != nil)
        let uncommon = [
            "2019-08-19T15:23:14+00:00", "2019-08-19 15:23:14Z", "2019-08-19T15:23:14.2Z", "1599-12-31T00:00:00Z",
            "2019-08-19T15:23:14,250Z", "2019-08-19T15:2a:14Z", "2019-08-19T15:23:14.25\u{E9}Z", "",
        ]
        for text in uncommon { #expect(Date(readingCommon: text) == nil, "\(text)") }
    }

    @Test func writesAnyDayLikeFoundation() {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        // From 1600 to 2400, every 13th day and the days around each leap day, at another second of the day.
        for day in stride(from: Int64(-135_140), to: 157_054, by: 13) {
            let date = Date(milliseconds: day * 86_400_000 + day.magnitude.hashedSecond * 1000)
            #expect(date.rfc3339 == date.formatted(style))
        }
        for year in 1896...2104 {
            for text in ["\(year)-02-28T23:59:59.999Z", "\(year)-03-01T00:00:00.000Z", "\(year)-12-31T23:59:59.999Z"] {
                #expect(Date(rfc3339: text)?.rfc3339 == text)
            }
        }
    }
}

extension UInt64 {
    fileprivate var hashedSecond: Int64 { Int64(self &* 2_654_435_761 % 86_400) }
}
