import CurlClient
import Downloads
import Foundation
import HTTPSemantics
import Locks
import TestKit
import Testing

@testable import Engine

/// Which additional connections are opened, to which addresses, and when they are replaced. A function of the test takes
/// the place of the network.
@Suite struct AdditionalConnectionsTests {
    private let fixture: FolderFixture
    private let time = ManualTime()
    private let calls = Monitor<[Call]>([])
    private let mayEnd = Latch()

    private struct Call: Sendable {
        var url: String
        /// The uptime at which the connection was opened.
        var openedAt: Duration
    }

    init() throws { fixture = try FolderFixture() }

    private func context(connections: Int, mirrors: [String] = [], perHost: Int = 16) throws -> AttemptContext {
        var spec = JobSpec(url: "http://a/file")
        (spec.connections, spec.mirrors) = (connections, mirrors)
        let job = Job(id: JobID("job_a"), session: Name(trusted: "s"), batch: 1, spec: spec, createdAt: time.now)
        let resolved = ResolvedSpec(job, in: SessionConfiguration())
        return AttemptContext(
            job: job, spec: resolved, limits: AttemptLimits(of: job, resolved, under: []), lane: fixture.lane,
            control: AttemptControl(), progress: AttemptProgress(of: job, time: time, total: ReceivedBytes()),
            client: try CurlClient(), hosts: HostConnections(limit: perHost, maxAdditional: 100) {},
            rehearsalOrigin: nil, minimumSpeedSeconds: 60, time: time)
    }

    /// A file whose first segment belongs to the primary connection.
    private func file() throws -> SegmentedFile {
        SegmentedFile(
            try fixture.part("part", ""), from: "http://a/file", size: 64 * Segments.smallestSegment,
            validators: Validators(etag: "\"v1\""), label: FileLabel(), outcome: .fresh, isRange: true, time: time)
    }

    /// Each connection waits for `mayEnd`, and fills its segment.
    private func filling(_ context: AttemptContext, _ file: SegmentedFile) -> AdditionalConnections {
        AdditionalConnections(context, file) { [calls, mayEnd, time] source, lease, _ in
            calls.withLock { $0.append(Call(url: source.url, openedAt: time.uptime)) }
            await mayEnd.wait()
            file.fill(lease)
            return nil
        }
    }

    /// Each connection is lost at once.
    private func losing(
        _ loss: ConnectionLoss, _ context: AttemptContext, _ file: SegmentedFile
    ) -> AdditionalConnections {
        AdditionalConnections(context, file) { [calls, time] source, lease, _ in
            calls.withLock { $0.append(Call(url: source.url, openedAt: time.uptime)) }
            file.leave(lease, isBodyWhole: false)
            return loss
        }
    }

    @Test func opensAsManyConnectionsAsTheJobWantsTheLeastUsedAddressFirst() async throws {
        let (context, file) = (try context(connections: 4, mirrors: ["http://b/file"]), try file())
        let additional = filling(context, file)
        async let loss = additional.run()
        #expect(await calls.wait { $0.count == 3 })
        #expect(calls.current.map(\.url).sorted() == ["http://a/file", "http://b/file", "http://b/file"])
        file.fill(file.firstLease)
        mayEnd.open()
        additional.primaryEnded(nil)
        #expect(await loss == nil)
        #expect(file.isOver)
    }

    @Test func opensNoConnectionToAHostWithoutRoom() async throws {
        let (context, file) = (try context(connections: 4, perHost: 2), try file())
        let additional = filling(context, file)
        async let loss = additional.run()
        #expect(await calls.wait { $0.count == 2 })
        #expect(!context.hosts.take(at: "a:80", of: context.job.session, atMost: nil))
        context.control.requestStop(.shutdown)
        mayEnd.open()
        additional.primaryEnded(nil)
        #expect(await loss == nil)
        #expect(calls.current.count == 2)
        #expect(context.hosts.take(at: "a:80", of: context.job.session, atMost: nil))
    }

    @Test func doesNotRequestAnAddressAgainThatBroughtNothing() async throws {
        let (context, file) = (try context(connections: 2), try file())
        let additional = losing(ConnectionLoss(failure: Failure(.connectFailed, "refused")), context, file)
        async let end = additional.run()
        #expect(await calls.wait { $0.count == 1 })
        additional.primaryEnded(nil)
        #expect(await end?.failure.code == .connectFailed)
        #expect(calls.current.count == 1)
    }

    @Test func replacesALostConnectionThatHadBroughtBytesAfterASecond() async throws {
        let (context, file) = (try context(connections: 2), try file())
        let loss = ConnectionLoss(failure: Failure(.connectionLost, "reset"), hasBrought: true)
        let additional = losing(loss, context, file)
        async let end = additional.run()
        _ = try await eventually("a second connection") {
            time.advance(by: 0.1)
            return calls.current.count == 2 ? true : nil
        }
        let opened = calls.current.map(\.openedAt)
        #expect(opened[1] - opened[0] >= .seconds(1))
        context.control.requestStop(.shutdown)
        additional.primaryEnded(nil)
        #expect(await end?.failure.code == .connectionLost)
    }

    @Test func endsWithAFinalLossOfThePrimaryConnection() async throws {
        let (context, file) = (try context(connections: 2), try file())
        let additional = filling(context, file)
        async let end = additional.run()
        #expect(await calls.wait { $0.count == 1 })
        mayEnd.open()
        additional.primaryEnded(ConnectionLoss(failure: Failure(.storageError, "disk full"), isFinal: true))
        #expect(await end?.failure.code == .storageError)
        #expect(!file.isComplete)
    }

    @Test func opensConnectionsThatAPatchAsksFor() async throws {
        let (context, file) = (try context(connections: 1), try file())
        let additional = filling(context, file)
        async let loss = additional.run()
        var spec = context.job.spec
        spec.connections = 3
        context.limits.take(spec)
        additional.limitsChanged()
        #expect(await calls.wait { $0.count == 2 })
        file.fill(file.firstLease)
        mayEnd.open()
        additional.primaryEnded(nil)
        #expect(await loss == nil)
    }
}

extension SegmentedFile {
    /// What a connection does that brings all bytes of its segment.
    fileprivate func fill(_ lease: SegmentLease) {
        if let range = range(of: lease) { _ = advance(lease, by: range.count) }
        leave(lease, isBodyWhole: true)
    }
}
