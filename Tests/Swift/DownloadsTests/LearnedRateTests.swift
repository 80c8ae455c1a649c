import Foundation
import HTTPSemantics
import Testing

@testable import Downloads

/// Hosts that refuse without a word, and no rule: the gate finds their rate.
@Suite struct LearnedRateTests {
    /// How a host counts the ten requests of a second that it allows.
    enum Limit: String, CaseIterable, CustomTestStringConvertible {
        case slidingWindow, fixedWindow, tokens, countingRefusals
        var testDescription: String { rawValue }
    }

    private struct Host {
        let limit: Limit
        private var times: [Double] = []
        private var tokens = 10.0
        private var last = 0.0
        private(set) var violations = 0

        init(_ limit: Limit) { self.limit = limit }

        mutating func serves(at now: Double) -> Bool {
            let isServed: Bool
            switch limit {
            case .slidingWindow, .countingRefusals:
                times.removeAll { $0 <= now - 1 }
                isServed = times.count < 10
            case .fixedWindow:
                times.removeAll { $0.rounded(.down) != now.rounded(.down) }
                isServed = times.count < 10
            case .tokens:
                tokens = min(10, tokens + (now - last) * 10)
                last = now
                isServed = tokens >= 1
                if isServed { tokens -= 1 }
            }
            if isServed || limit == .countingRefusals { times.append(now) }
            if !isServed { violations += 1 }
            return isServed
        }
    }

    private struct Request {
        var arrives: Double
        var ends: Double
        var ticket: HostGate.Ticket
        var isServed: Bool?
    }

    /// 2,000 files over six connections, with 20 ms from a request to its response.
    @Test(arguments: Limit.allCases) func findsTheRateOfAHost(_ limit: Limit) {
        var (gate, host, requests) = (HostGate(), Host(limit), [Request]())
        var (now, done) = (1000.0, 0)
        while done < 2000, now < 1400 {
            for index in requests.indices where requests[index].isServed == nil && requests[index].arrives <= now {
                requests[index].isServed = host.serves(at: requests[index].arrives)
            }
            for request in requests where request.ends <= now {
                let isServed = request.isServed ?? false
                if isServed { done += 1 }
                gate.receive(
                    isServed ? .served : .refused(status: 429, delay: nil), nil, to: request.ticket,
                    at: .seconds(request.ends), jitter: 0.5)
            }
            requests.removeAll { $0.ends <= now }
            while requests.count < 6, done + requests.count < 2000 {
                guard gate.starts(at: .seconds(now), until: .seconds(now), rule: nil) > 0,
                    case .at(_, let ticket) = gate.start(at: .seconds(now), rule: nil)
                else { break }
                requests.append(Request(arrives: now + 0.01, ends: now + 0.02, ticket: ticket))
            }
            now += 0.001
        }
        #expect(done == 2000)
        // Ideal are 200 seconds. The host would answer with 403 after 20 violations.
        #expect(now - 1000 < 260)
        #expect(host.violations <= 15)
    }

    @Test func halvesAndReturns() {
        let first = LearnedRate(after: nil, at: .zero, served: 20)
        #expect(first.rate(at: .zero) == 16 && first.ceiling == nil)
        let second = LearnedRate(after: first, at: .zero, served: 0)
        #expect(second.rate(at: .zero) == 8 && second.ceiling == 16 && second.repeated == 0)
        // 20 % a second up to nine tenths of the ceiling, then 2 %.
        #expect(abs(second.rate(at: .seconds(1)) - 9.6) < 1e-9)
        #expect((14.4...16).contains(second.rate(at: .seconds(6))))
        let third = LearnedRate(after: second, at: .seconds(10), served: 0)
        #expect(third.repeated == 1)
        // The slower growth of the third is half of that of the second.
        let growth = { (rate: LearnedRate, from: Double) in
            rate.rate(at: .seconds(from + 1)) / rate.rate(at: .seconds(from)) - 1
        }
        #expect(abs(growth(second, 6) - 0.02) < 1e-3 && abs(growth(third, 20) - 0.01) < 1e-3)
    }

    @Test func lateSuccessesRaiseTheFirstRate() {
        var rate = LearnedRate(after: nil, at: .zero, served: 0)
        #expect(rate.base == LearnedRate.lowest)
        rate.recordLateSuccess(10)
        #expect(rate.base == 8)
        // After the second refusal, the ceiling is known.
        rate = LearnedRate(after: rate, at: .zero, served: 0)
        rate.recordLateSuccess(100)
        #expect(rate.base == 4)
    }

    @Test func oldRateIsForgotten() {
        let old = LearnedRate(base: 1, since: .zero, ceiling: 2, repeated: 3)
        #expect(old.isPast(at: .seconds(3601)) && !old.isPast(at: .seconds(3600)))
        #expect(LearnedRate(after: old, at: .seconds(4000), served: 10) == LearnedRate(base: 8, since: .seconds(4000)))
    }

    @Test func countsTheLastSecond() {
        var count = RecentCount()
        for tenth in 0..<15 { count.add(at: .milliseconds(5000 + 100 * tenth)) }
        #expect(count.count(at: .milliseconds(6400)) == 10)
        #expect(count.count(at: .milliseconds(6950)) == 5)
        #expect(count.count(at: .seconds(60)) == 0)
    }
}
