import Base
import CurlClient
import Downloads
import Foundation
import HTTPSemantics
import Storage
import TestKit
import Testing

@testable import Engine

/// The gates of many hosts, without requests.
@Suite struct HostGatesTests {
    private let fixture: MaintenanceFixture
    private var gates: HostGates { fixture.services.gates }

    init() throws { fixture = try MaintenanceFixture() }

    private func job(_ id: String = "job_a") -> Job {
        Job(
            id: JobID(id), session: .default, batch: 1, spec: JobSpec(url: "https://host/a"), createdAt: fixture.now)
    }

    /// A request to the host, and its response.
    private func request(_ host: String, _ answer: HostGate.Answer, _ quota: RequestQuota? = nil) async throws {
        let start = await gates.start(at: host, for: job(), HostRules(), AsyncAutoResetEvent(), isStopped: { false })
        guard case .started(let passage) = start else { throw Overdue("A request to \(host)") }
        _ = gates.receive({ _ in answer }, quota, to: passage)
    }

    @Test func leastRecentHostLeavesFirstAndNoneThatIsClosed() async throws {
        try await request("closed:80", .refused(status: 429, delay: 3600))
        // They keep a rate, so they are not like new ones.
        let quota = RequestQuota(remaining: 1, seconds: 3600)
        for number in 0..<HostGates.most + 100 {
            try await request("host\(number):80", .served, quota)
            fixture.time.advance(by: 0.001)
        }
        let hosts = Set(gates.views().map(\.host))
        #expect(hosts.count <= HostGates.most)
        #expect(hosts.contains("closed:80") && hosts.contains("host\(HostGates.most + 99):80"))
        #expect(!hosts.contains("host0:80"))
    }

    @Test func startsOfAdmittedJobsAreTaken() async throws {
        #expect(gates.startsLeft(at: "host:443", of: .default, HostRules()) == .max)
        try await request("host:443", .refused(status: 503, delay: 10))
        #expect(gates.startsLeft(at: "host:443", of: .default, HostRules()) == 0)
        #expect(gates.nextAdmission() == fixture.now.addingTimeInterval(10))
        fixture.time.advance(by: 10)
        #expect(gates.startsLeft(at: "host:443", of: .default, HostRules()) == 1)
        gates.admit(job(), at: "host:443", HostRules())
        #expect(gates.startsLeft(at: "host:443", of: .default, HostRules()) == 0)
        // It ends without a request.
        gates.end(JobID("job_a"))
        #expect(gates.startsLeft(at: "host:443", of: .default, HostRules()) == 1)
    }

    /// A client resumes jobs: what is open already needs no commit and no line in the log.
    @Test func onlyAClosedGateIsOpened() async throws {
        try await request("open:443", .served)
        gates.probe(["open:443", "unknown:443"])
        #expect(gates.consumeChanged().isEmpty)
        try await request("closed:443", .refused(status: 429, delay: 10))
        #expect(gates.consumeChanged().map(\.host) == ["closed:443"])
        gates.probe(["closed:443", "open:443"])
        let opened = gates.consumeChanged()
        #expect(opened.map(\.host) == ["closed:443"] && opened.allSatisfy { $0.closedUntil == nil })
        #expect(gates.views().first { $0.host == "closed:443" }?.state == .halfOpen)
    }

    // MARK: Several services

    /// Starts at intervals are claimed in the database. What is claimed and not used in time is lost.
    @Test func requestsWaitForClaimedStarts() async throws {
        let gates = HostGates(
            rules: HostRules([try HostRule(["host": "host", "requests_per_second": 2])]),
            time: fixture.services.time, areShared: true, onOpen: {})
        try await withThrowingTaskGroup { group in
            for number in 0..<2 {
                group.addTask {
                    let start = await gates.start(
                        at: "host:443", for: self.job("job_\(number)"), HostRules(), AsyncAutoResetEvent(),
                        isStopped: { false })
                    guard case .started = start else { throw Overdue("the request to start") }
                }
            }
            let claims = try await eventually("both wishes") {
                let claims = gates.wantedStarts()
                return claims.first?.count == 2 ? claims : nil
            }
            #expect(claims.map(\.host) == ["host:443"] && claims[0].session == nil)
            #expect(abs(claims[0].interval - 0.515) < 0.001)
            gates.grant([[fixture.now, fixture.now.addingTimeInterval(7)]], for: claims)
            #expect(gates.wantedStarts().isEmpty)
            _ = try await group.next()
            fixture.time.advance(by: 7)
            _ = try await group.next()
        }

        // A host without a pace needs no claim.
        let other = await gates.start(
            at: "other:443", for: job(), HostRules(), AsyncAutoResetEvent(), isStopped: { false })
        guard case .started = other else { throw Overdue("the request to start") }
    }

    private func rules(_ bytesPerSecond: Int64) throws -> HostRules {
        HostRules([try HostRule(["host": "host", "rate_limit_bytes_per_second": .integer(bytesPerSecond)])])
    }

    /// All transfers from the host share the limit of the service's rule, and those of a session that of its own rule.
    @Test func ruleLimitsTheBytesOfAHost() throws {
        func limits(_ host: String, _ session: String, _ rules: HostRules = HostRules()) -> [RateLimit] {
            gates.rateLimits(at: host, of: Name(trusted: session), rules)
        }
        gates.apply(try rules(1000))
        let first = limits("host:443", "a")
        #expect(first.map(\.bytesPerSecond) == [1000] && limits("other:443", "a").isEmpty)
        #expect(limits("host:443", "b")[0] === first[0] && limits("host:80", "b")[0] !== first[0])
        let own = limits("host:443", "a", try rules(500))
        #expect(own.map(\.bytesPerSecond) == [1000, 500] && own[0] === first[0])
        // Running transfers follow a change.
        gates.apply(try rules(2000))
        #expect(first[0].bytesPerSecond == 2000)
        gates.apply(HostRules())
        #expect(first[0].bytesPerSecond == nil)
    }

    @Test func gateThatCouldNotBeStoredIsStoredLater() async throws {
        try await request("closed:443", .refused(status: 429, delay: 10))
        let changed = gates.consumeChanged()
        gates.markChanged(changed)
        _ = try await fixture.services.storeHosts()
        #expect(try await fixture.store.hosts() == changed)
        #expect(fixture.log.text.contains("closed:443 gets no requests until"))
    }
}

/// The gates that other services of the database have stored.
@Suite(.onItsOwnThread, .enabled(if: PostgresServer.isAvailable), .sharedPostgresServer)
struct SharedHostGatesTests {
    private func closed(_ host: String, at now: Date) -> StoredHost {
        StoredHost(
            host: host, closedUntil: now.addingTimeInterval(7200), reason: .refused, status: 429, closuresInARow: 1,
            learned: nil, changedAt: now)
    }

    private func closedHosts(_ fixture: MaintenanceFixture) -> Set<String> {
        Set(fixture.services.gates.views().filter { $0.state == .closed }.map(\.host))
    }

    /// A service that reads nothing for an hour, because it has lost its connection, finds all of them.
    @Test func areReadSinceTheLastTime() async throws {
        let fixture = try MaintenanceFixture(in: try PostgresFixture())
        try await fixture.store.saveHosts([closed("a:443", at: fixture.now)])
        _ = try await fixture.services.readHosts()
        #expect(closedHosts(fixture) == ["a:443"])
        fixture.time.advance(by: 60)
        try await fixture.store.saveHosts([closed("b:443", at: fixture.now)])
        fixture.time.advance(by: 3600)
        try await fixture.store.saveHosts([closed("c:443", at: fixture.now)])
        _ = try await fixture.services.readHosts()
        #expect(closedHosts(fixture) == ["a:443", "b:443", "c:443"])
    }
}
