import Base
import CurlClient
import Downloads
import Foundation
import HTTPSemantics
import TestKit
import Testing

@testable import Engine
@testable import Storage

/// Which further connections are opened, to which sources, and when they are replaced. A function of the test takes the
/// place of the network.
@Suite struct ConnectionPoolTests {
    private let folder: FolderFixture
    private let time = ManualTime()
    private let calls = Monitor<[Call]>([])
    private let mayEnd = Latch()

    private struct Call: Sendable {
        var url: String
        /// The uptime at which the connection was opened.
        var openedAt: Duration
    }

    init() throws { folder = try FolderFixture() }

    /// An attempt that does nothing but open further connections.
    private func attempt(connections: Int, mirrors: [String] = [], perHost: Int = 16) throws -> Attempt {
        var spec = JobSpec(url: "http://a/file")
        spec.connections = connections
        spec.mirrors = mirrors
        let job = Job(id: JobID("job_a"), session: Name(trusted: "s"), batch: 1, spec: spec, createdAt: time.now)
        let fixture = try MaintenanceFixture(
            connections: HostConnections(limit: perHost, maxAdditional: 100) {}, time: time)
        return Attempt(
            AdmittedJob(job: job, spec: ResolvedSpec(job, in: SessionConfiguration())), at: "a:80", under: [],
            fixture.services)
    }

    /// Begins a file whose first segment belongs to the primary connection.
    private func beginFile(_ attempt: Attempt) throws -> SegmentedFile {
        let file = SegmentedFile(
            try folder.part("part", ""),
            from: RequestSequence(from: "http://a/file", asking: RequestedRange(offset: 0)),
            size: 64 * Segments.smallestSegment, validators: Validators(etag: "\"v1\""), label: FileLabel(),
            outcome: .fresh, isRange: true, time: time)
        attempt.begin(file)
        return file
    }

    /// Each connection waits for `mayEnd`, and fills its segment.
    private func filling(_ attempt: Attempt, _ file: SegmentedFile) async -> ConnectionLoss? {
        await attempt.openFurtherConnections(to: file) { [calls, mayEnd, time] source, claim, _ in
            calls.withLock { $0.append(Call(url: source.url, openedAt: time.uptime)) }
            await mayEnd.wait()
            file.fill(claim)
            return nil
        }
    }

    /// Each connection is lost at once.
    private func losing(
        _ loss: ConnectionLoss, _ attempt: Attempt, _ file: SegmentedFile
    ) async -> ConnectionLoss? {
        await attempt.openFurtherConnections(to: file) { [calls, time] source, claim, _ in
            calls.withLock { $0.append(Call(url: source.url, openedAt: time.uptime)) }
            file.release(claim, isBodyWhole: false)
            return loss
        }
    }

    @Test func opensAsManyConnectionsAsTheJobWantsTheLeastUsedAddressFirst() async throws {
        let attempt = try attempt(connections: 4, mirrors: ["http://b/file"])
        let file = try beginFile(attempt)
        async let loss = filling(attempt, file)
        #expect(await calls.wait { $0.count == 3 })
        #expect(calls.current.map(\.url).sorted() == ["http://a/file", "http://b/file", "http://b/file"])
        file.fill(file.firstClaim)
        mayEnd.open()
        attempt.primaryConnectionEnded(to: file, nil)
        #expect(await loss == nil)
        #expect(file.isOver)
    }

    @Test func opensNoConnectionToAHostWithoutRoom() async throws {
        let attempt = try attempt(connections: 4, perHost: 2)
        let file = try beginFile(attempt)
        async let loss = filling(attempt, file)
        #expect(await calls.wait { $0.count == 2 })
        #expect(!attempt.services.connections.acquire(at: "a:80", of: attempt.job.session, atMost: nil))
        attempt.control.requestStop(.shutdown)
        mayEnd.open()
        attempt.primaryConnectionEnded(to: file, nil)
        #expect(await loss == nil)
        #expect(calls.current.count == 2)
        #expect(attempt.services.connections.acquire(at: "a:80", of: attempt.job.session, atMost: nil))
    }

    @Test func doesNotRequestAnAddressAgainThatBroughtNothing() async throws {
        let attempt = try attempt(connections: 2)
        let file = try beginFile(attempt)
        async let end = losing(ConnectionLoss(failure: Failure(.connectFailed, "refused")), attempt, file)
        #expect(await calls.wait { $0.count == 1 })
        attempt.primaryConnectionEnded(to: file, nil)
        #expect(await end?.failure.code == .connectFailed)
        #expect(calls.current.count == 1)
    }

    @Test func replacesALostConnectionThatHadBroughtBytesAfterASecond() async throws {
        let attempt = try attempt(connections: 2)
        let file = try beginFile(attempt)
        let loss = ConnectionLoss(failure: Failure(.connectionLost, "reset"), hasReceived: true)
        async let end = losing(loss, attempt, file)
        _ = try await eventually("a second connection") {
            time.advance(by: 0.1)
            return calls.current.count == 2 ? true : nil
        }
        let opened = calls.current.map(\.openedAt)
        #expect(opened[1] - opened[0] >= .seconds(1))
        attempt.control.requestStop(.shutdown)
        attempt.primaryConnectionEnded(to: file, nil)
        #expect(await end?.failure.code == .connectionLost)
    }

    @Test func endsWithAFinalLossOfThePrimaryConnection() async throws {
        let attempt = try attempt(connections: 2)
        let file = try beginFile(attempt)
        async let end = filling(attempt, file)
        #expect(await calls.wait { $0.count == 1 })
        mayEnd.open()
        let loss = ConnectionLoss(failure: Failure(.storageError, "disk full"), isFinal: true)
        attempt.primaryConnectionEnded(to: file, loss)
        #expect(await end?.failure.code == .storageError)
        #expect(!file.isComplete)
    }

    @Test func opensConnectionsThatAPatchAsksFor() async throws {
        let attempt = try attempt(connections: 1)
        let file = try beginFile(attempt)
        async let loss = filling(attempt, file)
        var spec = attempt.job.spec
        spec.connections = 3
        attempt.control.apply(spec)
        #expect(await calls.wait { $0.count == 2 })
        file.fill(file.firstClaim)
        mayEnd.open()
        attempt.primaryConnectionEnded(to: file, nil)
        #expect(await loss == nil)
    }
}

extension SegmentedFile {
    /// What a connection does that brings all bytes of its segment.
    fileprivate func fill(_ claim: SegmentClaim) {
        if let range = range(of: claim) { _ = advance(claim, by: range.count) }
        release(claim, isBodyWhole: true)
    }
}
