import TestKit
import Testing

@testable import Webhooks

@Suite struct OutboxFailuresTests {
    private struct Fault: Error, CustomStringConvertible {
        let description = "the server is away"
    }

    @Test func logsTheFirstFailureThenOneAMinuteAndTheEnd() {
        let (time, log) = (ManualTime(), LogRecord())
        let failures = OutboxFailures(of: "record deliveries", time: time, log: log.logger)
        failures.end()
        #expect(log.text.isEmpty)
        // The failures are at 0, 5, ..., 60 seconds.
        for number in 0...12 {
            if number > 0 { time.advance(by: 5) }
            failures.note("record delivery \(number)", Fault())
        }
        let lines = log.text.split(separator: "\n")
        #expect(lines.count == 2, "\(log.text)")
        #expect(
            lines.first?.hasSuffix("Could not record delivery 0: the server is away. fetchd tries again.") == true)
        #expect(lines.last?.hasSuffix("tries again. (12 failures since the last such line)") == true)
        for _ in 1...2 { failures.end() }
        #expect(log.text.split(separator: "\n").count == 3)
        #expect(log.text.hasSuffix("fetchd can record deliveries again."))
    }
}
