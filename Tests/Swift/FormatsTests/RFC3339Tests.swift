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

    @Test func readsWhatACalendarHas() {
        var random = SystemRandomNumberGenerator()
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        for _ in 0..<5_000 {
            let numbers = [1_600...9_999, 0...14, 0...33, 0...25, 0...61, 0...62].map { range in
                Int.random(in: range, using: &random)
            }
            let digits = numbers.map { $0.digits(2) }
            let fraction = Int.random(in: 100...999)
            let text =
                "\(digits[0])-\(digits[1])-\(digits[2])T\(digits[3]):\(digits[4]):\(digits[5]).\(fraction)Z"
            let day = DateComponents(calendar: calendar, year: numbers[0], month: numbers[1], day: numbers[2])
            let exists = day.isValidDate && numbers[3] < 24 && numbers[4] < 60 && numbers[5] <= 60
            let seconds = (numbers[3] * 60 + numbers[4]) * 60 + numbers[5]
            let moment = day.date.map { $0.milliseconds + Int64(seconds * 1_000 + fraction) }
            #expect(Date(rfc3339: text)?.milliseconds == (exists ? moment : nil), "\(text)")
        }
        for text in [
            "2019-08-19 15:23:14Z", "2019-08-19T15:23:14,250Z", "2019-08-19T15:2a:14Z",
            "2019-08-19T15:23:14.25\u{E9}Z", "", "2019-08-19T15:23:14", "2019-08-19T15:60:14Z",
        ] { #expect(Date(rfc3339: text) == nil, "\(text)") }
        #expect(Date(rfc3339: "2019-08-19T15:23:14.2Z") == Date(milliseconds: 1_566_228_194_200))
        #expect(Date(rfc3339: "2016-12-31T23:59:60Z")?.rfc3339 == "2017-01-01T00:00:00.000Z")
        #expect(Date(rfc3339: "0000-01-01T00:00:00Z")?.rfc3339 == "0000-01-01T00:00:00.000Z")
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
