import Foundation
import HTTPSemantics
import TestKit
import Testing

@testable import Downloads

/// Each function of the gate in each of its states.
@Suite struct HostGateTests {
    private static let begin = Duration.seconds(1000)

    private static func after(_ seconds: Double) -> Duration { begin + .seconds(seconds) }

    /// A gate in the state, and the ticket of a request that has started in it, or before it.
    private static func gate(_ state: HostGate.State) throws -> (HostGate, HostGate.Ticket) {
        var gate = HostGate()
        let ticket = try start(&gate, at: begin)
        switch state {
        case .open: return (gate, ticket)
        case .pacing:
            gate.receive(.served, RequestQuota(remaining: 5, seconds: 10), to: ticket, at: begin, jitter: 0)
            let later = try start(&gate, at: after(3))
            return (gate, later)
        case .closed:
            gate.receive(.refused(status: 429, delay: 60), nil, to: ticket, at: begin, jitter: 0)
            return (gate, ticket)
        case .halfOpen:
            gate.receive(.refused(status: 503, delay: 2), nil, to: ticket, at: begin, jitter: 0)
            let probe = try start(&gate, at: after(3))
            return (gate, probe)
        }
    }

    private static func start(_ gate: inout HostGate, at now: Duration, rule: Double? = nil) throws -> HostGate.Ticket {
        guard case .at(let moment, let ticket) = gate.start(at: now, rule: rule) else {
            throw NoStart(start: "\(gate.start(at: now, rule: rule))")
        }
        #expect(moment >= now)
        return ticket
    }

    private struct NoStart: Error { var start: String }

    struct Row: Sendable, CustomTestStringConvertible {
        var state: HostGate.State
        var answer: HostGate.Answer
        var next: HostGate.State
        /// Seconds until the next start; nil: after a response.
        var wait: Double?
        var testDescription: String { "\(state), \(answer)" }
    }

    private static let job = JobID("job_1")

    /// At five seconds after the beginning, with half of the jitter.
    static let table: [Row] = [
        Row(state: .open, answer: .served, next: .open, wait: 0),
        Row(state: .open, answer: .none, next: .open, wait: 0),
        Row(state: .open, answer: .unavailable(job), next: .open, wait: 0),
        Row(state: .open, answer: .refused(status: 429, delay: 30), next: .closed, wait: 30),
        Row(state: .open, answer: .refused(status: 429, delay: nil), next: .closed, wait: 0.5),
        Row(state: .pacing, answer: .served, next: .pacing, wait: 0),
        Row(state: .pacing, answer: .none, next: .pacing, wait: 0),
        Row(state: .pacing, answer: .unavailable(job), next: .pacing, wait: 0),
        Row(state: .pacing, answer: .refused(status: 429, delay: 30), next: .closed, wait: 30),
        Row(state: .pacing, answer: .refused(status: 429, delay: nil), next: .closed, wait: 0.5),
        // The responses to requests from before.
        Row(state: .closed, answer: .served, next: .closed, wait: 55),
        Row(state: .closed, answer: .none, next: .closed, wait: 55),
        Row(state: .closed, answer: .unavailable(job), next: .closed, wait: 55),
        Row(state: .closed, answer: .refused(status: 429, delay: 30), next: .closed, wait: 55),
        Row(state: .closed, answer: .refused(status: 429, delay: 300), next: .closed, wait: 300),
        Row(state: .closed, answer: .refused(status: 429, delay: nil), next: .closed, wait: 55),
        // The response to the probe.
        Row(state: .halfOpen, answer: .served, next: .open, wait: 0),
        Row(state: .halfOpen, answer: .none, next: .halfOpen, wait: 0),
        Row(state: .halfOpen, answer: .unavailable(job), next: .closed, wait: 1),
        Row(state: .halfOpen, answer: .refused(status: 429, delay: 30), next: .closed, wait: 30),
        Row(state: .halfOpen, answer: .refused(status: 429, delay: nil), next: .closed, wait: 1),
    ]

    @Test(arguments: table) func followsTheTable(_ row: Row) throws {
        var (gate, ticket) = try Self.gate(row.state)
        let now = Self.after(5)
        #expect(gate.state(at: now, rule: nil) == row.state)
        gate.receive(row.answer, nil, to: ticket, at: now, jitter: 0.5)
        #expect(gate.state(at: now, rule: nil) == row.next)
        #expect(gate.earliest(at: now).map { ($0 - now).inSeconds } == row.wait)
    }

    @Test func tableIsComplete() {
        let covered = Set(Self.table.map { "\($0.state) \(Self.kind($0.answer))" })
        let all = HostGate.State.allCases.flatMap { state in
            ["served", "none", "unavailable", "refused with a time", "refused"].map { "\(state) \($0)" }
        }
        #expect(covered == Set(all))
    }

    private static func kind(_ answer: HostGate.Answer) -> String {
        switch answer {
        case .served: "served"
        case .none: "none"
        case .unavailable: "unavailable"
        case .refused(_, let delay): delay == nil ? "refused" : "refused with a time"
        }
    }

    // MARK: The half-open gate

    @Test func oneRequestPassesAHalfOpenGate() throws {
        var (gate, probe) = try Self.gate(.halfOpen)
        let now = Self.after(5)
        #expect(gate.start(at: now, rule: nil) == .notBefore(nil))
        #expect(gate.starts(at: now, until: now, rule: nil) == 0)
        gate.receive(.none, nil, to: probe, at: now, jitter: 0)
        probe = try Self.start(&gate, at: now)
        gate.receive(.served, nil, to: probe, at: now, jitter: 0)
        #expect(gate.starts(at: now, until: now, rule: nil) == .max)
    }

    /// The delays double until an hour, and begin again after a response that was served.
    @Test func backoffDoubles() throws {
        var gate = HostGate()
        var now = Self.begin
        var delays: [Double] = []
        for _ in 0..<14 {
            let ticket = try Self.start(&gate, at: now)
            gate.receive(.refused(status: 403, delay: nil), nil, to: ticket, at: now, jitter: 1)
            let until = try #require(gate.closure(at: now)).until
            delays.append((until - now).inSeconds)
            now = until
        }
        #expect(delays == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600, 3600])
        gate.receive(.served, nil, to: try Self.start(&gate, at: now), at: now, jitter: 1)
        gate.receive(.refused(status: 403, delay: nil), nil, to: try Self.start(&gate, at: now), at: now, jitter: 1)
        #expect(try #require(gate.closure(at: now)).until - now == .seconds(1))
    }

    // MARK: 503

    @Test func threeJobsWith503CloseTheGate() throws {
        var gate = HostGate()
        func answer(_ answer: HostGate.Answer) throws {
            gate.receive(answer, nil, to: try Self.start(&gate, at: Self.begin), at: Self.begin, jitter: 1)
        }
        // One job whose URL is broken closes nothing.
        for _ in 0..<10 { try answer(.unavailable(JobID("job_1"))) }
        try answer(.unavailable(JobID("job_2")))
        #expect(gate.state(at: Self.begin, rule: nil) == .open)
        try answer(.served)
        try answer(.unavailable(JobID("job_1")))
        try answer(.unavailable(JobID("job_2")))
        #expect(gate.state(at: Self.begin, rule: nil) == .open)
        try answer(.unavailable(JobID("job_3")))
        #expect(gate.closure(at: Self.begin) == .init(until: Self.after(1), reason: .unavailable, status: 503))
        #expect(gate.learned == nil)
    }

    /// A host that serves one request and answers 503 to the next, at random, for an hour: it gets requests all the time, and
    /// never many at once.
    @Test(arguments: [1, 2, 3, 4, 5] as [UInt64]) func flappingHostGetsRequestsWithoutAStorm(_ seed: UInt64) throws {
        var chance = SplitMix64(state: seed)
        var (gate, starts) = (HostGate(), [Double]())
        var (now, next) = (0.0, 0)
        while now < 3600 {
            // Six connections, each of which takes a tenth of a second.
            var tickets: [HostGate.Ticket] = []
            while tickets.count < 6, gate.starts(at: .seconds(now), until: .seconds(now), rule: nil) > 0,
                case .at(_, let ticket) = gate.start(at: .seconds(now), rule: nil)
            {
                tickets.append(ticket)
                starts.append(now)
            }
            now += 0.1
            for ticket in tickets {
                next += 1
                let answer = Bool.random(using: &chance) ? HostGate.Answer.served : .unavailable(JobID("job_\(next)"))
                gate.receive(answer, nil, to: ticket, at: .seconds(now), jitter: .random(in: 0...1, using: &chance))
            }
        }
        let longest = zip(starts, starts.dropFirst()).map { $1 - $0 }.max() ?? 3600
        #expect(longest <= 61, "\(longest)")
        #expect(starts.count > 1000)
        // No second has more requests than six connections can send.
        let most = Dictionary(grouping: starts, by: { Int($0) }).values.map(\.count).max() ?? 0
        #expect(most <= 66, "\(most)")
        if seed == 1 { try StartsPlot(starts).compare() }
    }

    // MARK: Quotas

    @Test func usedUpQuotaClosesTheGate() throws {
        var gate = HostGate()
        let ticket = try Self.start(&gate, at: Self.begin)
        gate.receive(.served, RequestQuota(remaining: 0, seconds: 30), to: ticket, at: Self.begin, jitter: 0)
        #expect(gate.closure(at: Self.begin) == .init(until: Self.after(30), reason: .quota))
        #expect(gate.start(at: Self.after(29.9), rule: nil) == .notBefore(Self.after(30)))
        _ = try Self.start(&gate, at: Self.after(30))
    }

    /// A response can name two times. The gate opens at the later one.
    @Test(arguments: [(60.0, 9.0, 60.0), (5.0, 30.0, 30.0)])
    func laterOfTwoTimesHolds(_ retryAfter: Double, _ reset: Double, _ expected: Double) throws {
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        let headers = [
            (name: "Retry-After", value: "\(Int(retryAfter))"), (name: "RateLimit", value: "\"d\";r=0;t=\(Int(reset))"),
        ]
        let quota = RequestQuota(headers, at: now)
        let answer = HostGate.Answer(ResponseFacts(status: 429, headers: headers), quota, to: Self.job, at: now)
        var gate = HostGate()
        let ticket = try Self.start(&gate, at: Self.begin)
        gate.receive(answer, quota, to: ticket, at: Self.begin, jitter: 0)
        #expect(
            gate.closure(at: Self.begin) == .init(until: Self.after(expected), reason: .refused, status: 429))
        #expect(gate.closures == 1)
    }

    /// Only responses to requests from before the refusal raise the rate that was learned from it.
    @Test func lateResponsesRaiseTheLearnedRate() throws {
        var gate = HostGate()
        let tickets = try (0..<11).map { _ in try Self.start(&gate, at: Self.begin) }
        gate.receive(.refused(status: 429, delay: nil), nil, to: tickets[0], at: Self.begin, jitter: 0)
        #expect(gate.learned?.base == LearnedRate.lowest)
        for ticket in tickets.dropFirst() { gate.receive(.served, nil, to: ticket, at: Self.begin, jitter: 0) }
        #expect(gate.learned?.base == 8)
        for second in 1...20 {
            let now = Self.after(Double(second))
            gate.receive(.served, nil, to: try Self.start(&gate, at: now), at: now, jitter: 0)
        }
        #expect(gate.learned?.base == 8)
    }

    @Test func fewRequestsAreSpread() throws {
        var gate = HostGate()
        let ticket = try Self.start(&gate, at: Self.begin)
        gate.receive(.served, RequestQuota(remaining: 4, seconds: 8), to: ticket, at: Self.begin, jitter: 0)
        #expect(gate.rate(at: Self.begin, rule: nil) == 0.5)
        #expect(gate.earliest(at: Self.begin) == Self.after(2.06))
        // The quota has ended.
        #expect(gate.state(at: Self.after(8), rule: nil) == .open)
    }

    static let manyRequests = [
        RequestQuota(remaining: 11, seconds: 8), RequestQuota(remaining: 101, seconds: 8, whole: 1000),
    ]

    @Test(arguments: manyRequests) func manyRequestsAreNotSpread(_ quota: RequestQuota) throws {
        var gate = HostGate()
        let ticket = try Self.start(&gate, at: Self.begin)
        gate.receive(.served, quota, to: ticket, at: Self.begin, jitter: 0)
        #expect(gate.state(at: Self.begin, rule: nil) == .open)
    }

    // MARK: Rules, and what is stored

    @Test func rulePacesStarts() throws {
        var gate = HostGate()
        var starts: [Double] = []
        for _ in 0..<31 {
            guard case .at(let moment, _) = gate.start(at: Self.begin, rule: 10) else { throw NoStart(start: "") }
            starts.append((moment - Self.begin).inSeconds)
        }
        #expect(zip(starts, starts.dropFirst()).allSatisfy { abs($1 - $0 - 0.103) < 1e-6 })
        #expect(gate.starts(at: Self.begin, until: Self.after(1), rule: 10) == 0)
        let next = try #require(gate.earliest(at: Self.begin))
        #expect(abs((next - Self.begin).inSeconds - 31 * 0.103) < 1e-6)
        #expect(HostGate().starts(at: Self.begin, until: Self.after(0.5), rule: 10) == 5)
    }

    @Test func openingAllowsOneRequest() throws {
        var (gate, _) = try Self.gate(.closed)
        gate.open()
        #expect(gate.state(at: Self.begin, rule: nil) == .halfOpen)
        _ = try Self.start(&gate, at: Self.begin)
        #expect(gate.start(at: Self.begin, rule: nil) == .notBefore(nil))
    }

    @Test func closureIsRestored() throws {
        let (gate, _) = try Self.gate(.closed)
        let restored = HostGate(gate.stored(at: Self.after(5)))
        #expect(restored.closure(at: Self.after(5)) == gate.closure(at: Self.after(5)))
        #expect(restored.earliest(at: Self.after(5)) == Self.after(60))
        #expect(!restored.isForgettable(at: Self.after(5)))
        // After the time, or after a client has opened it elsewhere, one request decides.
        var ended = HostGate(gate.stored(at: Self.after(70)))
        #expect(ended.state(at: Self.after(70), rule: nil) == .halfOpen)
        _ = try Self.start(&ended, at: Self.after(70))
        #expect(ended.start(at: Self.after(70), rule: nil) == .notBefore(nil))
        #expect(HostGate().isForgettable(at: Self.begin))
    }

    @Test func answersFollowTheResponse() {
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        func answer(_ status: Int, _ fields: [(String, String)] = []) -> HostGate.Answer {
            let headers = fields.map { (name: $0.0, value: $0.1) }
            let quota = RequestQuota(headers, at: now)
            return HostGate.Answer(ResponseFacts(status: status, headers: headers), quota, to: Self.job, at: now)
        }
        let seconds = [("Retry-After", "7")]
        #expect(answer(200) == .served && answer(404, seconds) == .served && answer(500) == .served)
        #expect(
            answer(429) == .refused(status: 429, delay: nil) && answer(429, seconds) == .refused(status: 429, delay: 7))
        #expect(answer(503) == .unavailable(Self.job) && answer(503, seconds) == .refused(status: 503, delay: 7))
        #expect(answer(502, seconds) == .refused(status: 502, delay: 7))
        #expect(answer(503, [("Retry-After", "0")]) == .refused(status: 503, delay: nil))
        #expect(answer(403) == .served && answer(403, seconds) == .refused(status: 403, delay: 7))
        #expect(answer(403, [("RateLimit", "\"d\";r=0;t=9")]) == .refused(status: 403, delay: 9))
        #expect(answer(429, [("RateLimit", "\"d\";r=0;t=9")]) == .refused(status: 429, delay: 9))
    }
}

/// The plot of docs/polite.md: the starts a second of each ten seconds of an hour. FETCHD_WRITE_PLOTS=1 writes it.
private struct StartsPlot {
    private static let file = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../docs/images/starts-at-a-flapping-host.svg").standardized

    private let counts: [Int]

    init(_ starts: [Double]) {
        let groups = Dictionary(grouping: starts) { Int($0 / 10) }
        counts = (0..<360).map { groups[$0]?.count ?? 0 }
    }

    func compare() throws {
        if ProcessInfo.processInfo.environment["FETCHD_WRITE_PLOTS"] != nil {
            try svg.write(to: Self.file, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOf: Self.file, encoding: .utf8) == svg)
    }

    /// A start a second is 3 pixels high, ten seconds are 2 pixels wide.
    private var svg: String {
        let bars = counts.enumerated().map { index, count in "M\(40 + 2 * index) 230v-\(3 * count / 10)" }
        let lines = stride(from: 0, through: 60, by: 10).map { rate in
            """
            <path class="grid" d="M40 \(230 - 3 * rate)h720"/><text x="34" y="\(234 - 3 * rate)" text-anchor="end">\(rate)</text>
            """
        }
        let minutes = stride(from: 0, through: 60, by: 10).map { minute in
            """
            <text x="\(40 + 12 * minute)" y="248" text-anchor="middle">\(minute)</text>
            """
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 780 270" role="img">
            <title>Starts a second at a host that answers 200 or 503 at random</title>
            <style>
            text { font: 12px sans-serif; fill: #24292f } .grid { stroke: #d0d7de } .bars { stroke: #0060a8; stroke-width: 2 }
            @media (prefers-color-scheme: dark) {
            text { fill: #e6edf3 } .grid { stroke: #3d444d } .bars { stroke: #56b4e9 }
            }
            </style>
            <text x="40" y="24">Starts a second</text><text x="400" y="266" text-anchor="middle">minutes</text>
            \((lines + minutes).joined(separator: "\n"))
            <path class="bars" d="\(bars.joined())"/>
            </svg>

            """
    }
}
