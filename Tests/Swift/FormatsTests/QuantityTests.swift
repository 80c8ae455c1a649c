import Formats
import Foundation
import Testing

/// The grammar of sizes, durations and moments.
@Suite struct QuantityTests {
    @Test(arguments: [
        ("0", 0), ("500", 500), ("007", 7), ("500K", 500_000), ("500k", 500_000), ("2M", 2_000_000),
        ("1.5G", 1_500_000_000),
        ("3T", 3_000_000_000_000), ("1Ki", 1024), ("2mi", 2_097_152), ("1.5Gi", 1_610_612_736),
        ("1Ti", 1_099_511_627_776),
        ("0.0001K", 0), ("9223372036854775807", Int64.max),
    ])
    func readsSizes(_ text: String, _ bytes: Int64) { #expect(Quantity.bytes(text) == bytes) }

    @Test(arguments: [
        "", "K", "-1", "+1", "1.5", "1.", ".5K", "1KB", "1KiB", "1P", "1 K", " 1", "1e3", "nan", "inf", "0x10", "1,5K",
        "１K",
        "9223372036854775808", "9223372036854775807K", "99999999999999999999.5K",
    ])
    func refusesOtherSizes(_ text: String) { #expect(Quantity.bytes(text) == nil) }

    @Test(arguments: [
        ("0", 0), ("90", 90), ("1.5", 1.5), ("90s", 90), ("15m", 900), ("8h", 28_800), ("30d", 2_592_000),
        ("2w", 1_209_600),
        ("0.5h", 1800),
    ])
    func readsDurations(_ text: String, _ seconds: Double) { #expect(Quantity.seconds(text) == seconds) }

    @Test(arguments: [
        "", "s", "-1", "1h30m", "1 h", "1H", "1y", "1ms", "nan", "inf", "1e3", String(repeating: "9", count: 400),
    ])
    func refusesOtherDurations(_ text: String) { #expect(Quantity.seconds(text) == nil) }

    /// At noon of 2030-01-31, in Berlin.
    @Test(arguments: [
        ("2030-01-31T22:00:00Z", "2030-01-31T22:00:00.000Z"),
        ("2030-01-31T22:00:00.5+01:00", "2030-01-31T21:00:00.500Z"),
        ("22:00", "2030-01-31T21:00:00.000Z"), ("12:01", "2030-01-31T11:01:00.000Z"),
        ("12:00", "2030-02-01T11:00:00.000Z"),
        ("06:30", "2030-02-01T05:30:00.000Z"), ("2030-07-01 08:15", "2030-07-01T06:15:00.000Z"),
        ("2020-01-01 00:00", "2019-12-31T23:00:00.000Z"),
        // The clocks skip this hour.
        ("2030-03-31 02:30", "2030-03-31T01:30:00.000Z"),
    ])
    func readsMoments(_ text: String, _ time: String) throws {
        let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
        let noon = try #require(Date(rfc3339: "2030-01-31T11:00:00Z"))
        #expect(Date(moment: text, now: noon, zone: zone)?.rfc3339 == time)
    }

    @Test(arguments: [
        "", "tomorrow", "24:00", "8:00", "08:60", "08:00:00", "2030-02-30 08:00", "2030-01-31", "2030-01-31  08:00",
        "30-01-31 08:00", "2030-01-31T08:00", "8h",
    ])
    func refusesOtherMoments(_ text: String) { #expect(Date(moment: text, now: .now) == nil) }
}
