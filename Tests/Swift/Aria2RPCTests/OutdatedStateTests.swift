import CurlClient
import Downloads
import Engine
import Formats
import TestKit
import Testing

@testable import Aria2RPC
@testable import Storage
@testable import StorageSQLite

/// Calls that begin with an older state than the database has, because another client or another node was faster.
@Suite struct OutdatedStateTests {
    private let temporary: TemporaryFolder
    private let store: Store
    private let service: Aria2Service

    /// No worker of the engine runs, so that jobs stay queued.
    init() async throws {
        let temporary = try TemporaryFolder()
        let store = try Store(at: temporary.path("data"))
        let log = LogRecord().logger
        let engine = Engine(
            options: Engine.Options(), store: store,
            locations: Locations(main: try DownloadsFolder(at: temporary.path("downloads"), for: .alone)),
            client: try CurlClient(),
            log: log)
        let limits = ServiceLimits(
            current: { (maxConcurrentJobs: 16, rateLimit: nil) }, change: { _, _ in })
        service = Aria2Service(
            options: Aria2Service.Options(), store: store, engine: engine, limits: limits, log: log)
        (self.temporary, self.store) = (temporary, store)
        _ = try await store.declareSession(service.session, configuration: nil)
    }

    private static let caller = RPCCaller(
        grant: Permissions(.admin)!, creator: .unlimited,
        note: AuditNote(caller: nil, name: nil, address: "local", action: "POST /jsonrpc"))

    /// The reply to a call.
    private func call(_ method: String, _ parameters: JSON...) async throws -> JSON {
        let call: JSON = ["id": 1, "method": .string(method), "params": .array(parameters)]
        let reply = await service.reply(to: .single(call), in: AnswerRoom { _ in true }) { _ in Self.caller }
        return try JSON(parsing: reply.text)
    }

    private func gid(_ job: Job) -> JSON { .string(job.aria2GID.description) }

    private func create(_ count: Int = 1, isPaused: Bool = false) async throws -> [Job] {
        try await store.createJobs(
            (0..<count).map {
                NewJob(session: service.session, spec: JobSpec(url: "https://host/\($0)"), isPaused: isPaused)
            })
    }

    private func cancel(_ job: JobID) async throws -> Job {
        try await store.apply(.cancelRequested(keepsPart: false), to: job).job
    }

    /// Caches an older version of the job, as a node has it until it learns of the commit of another one.
    private func outdate(_ job: Job) { store.jobCache.keep([CachedJob(job)], readAt: store.jobsVersion) }

    // MARK: Results

    @Test func purgeSparesAJobThatWasRetried() async throws {
        let jobs = try await create(2).map(\.id)
        for job in jobs { _ = try await cancel(job) }
        let ended = try await store.endedJobs(of: service.session)
        _ = try await store.apply(.retryRequested, to: jobs[1])
        try await service.purge(ended)
        #expect(try await store.endedJobs(of: service.session) == [])
        #expect(try await store.queue(of: service.session) == [jobs[1]])
    }

    @Test func aJobThatWasRetriedElsewhereIsNoResult() async throws {
        let job = try await create()[0]
        let ended = try await cancel(job.id)
        _ = try await store.apply(.retryRequested, to: job.id)
        outdate(ended)
        let reply = try await call("aria2.removeDownloadResult", gid(job))
        #expect(
            reply["error"]["message"].string == "Could not remove download result of GID#\(job.aria2GID)")
        #expect(try await store.queue(of: service.session) == [job.id])
    }

    @Test func aJobThatHasEndedElsewhereIsAResult() async throws {
        let job = try await create()[0]
        _ = try await cancel(job.id)
        outdate(job)
        #expect(try await call("aria2.removeDownloadResult", gid(job))["result"] == "OK")
        #expect(try await store.endedJobs(of: service.session) == [])
    }

    // MARK: States

    @Test func aJobThatWasPausedElsewhereIsUnpaused() async throws {
        let job = try await create()[0]
        _ = try await store.apply(.pauseRequested, to: job.id)
        outdate(job)
        #expect(try await call("aria2.unpause", gid(job))["result"] == gid(job))
        #expect(try await store.storedJob(job.id).state == .queued)
    }

    @Test func everyJobThatWasPausedElsewhereIsUnpaused() async throws {
        let job = try await create()[0]
        _ = try await store.apply(.pauseRequested, to: job.id)
        outdate(job)
        #expect(try await call("aria2.unpauseAll")["result"] == "OK")
        #expect(try await store.pausedJobs(of: service.session) == [])
    }

    @Test func aJobThatWasResumedElsewhereIsPaused() async throws {
        let job = try await create(isPaused: true)[0]
        _ = try await store.apply(.resumeRequested, to: job.id)
        outdate(job)
        #expect(try await call("aria2.pause", gid(job))["result"] == gid(job))
        #expect(try await store.pausedJobs(of: service.session) == [job.id])
    }

    @Test func aJobThatWasRetriedElsewhereIsRemoved() async throws {
        let job = try await create()[0]
        let ended = try await cancel(job.id)
        _ = try await store.apply(.retryRequested, to: job.id)
        outdate(ended)
        #expect(try await call("aria2.remove", gid(job))["result"] == gid(job))
        #expect(try await store.endedJobs(of: service.session) == [job.id])
    }

    // MARK: Options

    /// With the cached version, the call would be repeated until the node learns of the other change.
    @Test(.timeLimit(.minutes(5))) func aChangeAppliesToWhatAnotherNodeHasChanged() async throws {
        let job = try await create()[0]
        var spec = job.spec
        spec.rateLimit = 5
        _ = try await store.patchJob(job.id, from: job.spec, to: spec, fields: [.rateLimit], expecting: nil)
        outdate(job)
        #expect(try await call("aria2.changeOption", gid(job), ["out": "b.bin"])["result"] == "OK")
        let changed = try await store.storedJob(job.id)
        #expect(changed.spec.rateLimit == 5 && changed.spec.destination.filename == "b.bin")
    }

    // MARK: The queue

    @Test func aDeletedJobDoesNotKeepTheOthersPaused() async throws {
        let jobs = try await create(2, isPaused: true).map(\.id)
        _ = try await cancel(jobs[0])
        _ = try await store.deleteJob(jobs[0])
        try await service.resume(jobs)
        #expect(try await store.job(jobs[1]).state == .queued)
    }

    /// The neighbour leaves the queue between the reading of the queue and the move.
    @Test func aPlaceIsSoughtAgainInThePresentQueue() async throws {
        let jobs = try await create(3).map(\.id)
        var seen: [[JobID]] = []
        let moved = try await service.onPresentQueue { queue in
            seen.append(queue)
            if queue.first == jobs[0] { _ = try await cancel(jobs[0]) }
            return try await store.moveJob(jobs[2], to: .before(queue[0]))
        }
        #expect(moved.id == jobs[2])
        #expect(seen == [jobs, [jobs[1], jobs[2]]])
        #expect(try await store.queue(of: service.session) == [jobs[2], jobs[1]])
    }

    /// A job cannot be moved next to itself.
    @Test func aPlaceIsNotSoughtForever() async throws {
        let job = try await create()[0].id
        var count = 0
        do {
            let moved = try await service.onPresentQueue { queue in
                count += 1
                return try await store.moveJob(job, to: .before(queue[0]))
            }
            Issue.record("\(moved)")
        } catch StoreError.moveRefused {
            #expect(count == 10)
        }
    }

    @Test func aPositionAmongJobsOfAHigherPriorityIsTheTopOfTheOthers() async throws {
        let present = try await create(1)
        var spec = JobSpec(url: "https://host/")
        spec.priority = .high
        let urgent = NewJob(session: service.session, spec: spec)
        let first = try await store.createJobs([urgent, urgent]).map(\.id)
        let reply = try await call("aria2.addUri", ["https://host/new"], [:], 1)
        let queue = try await store.queue(of: service.session)
        #expect(queue.count == 4 && Array(queue.prefix(2)) == first && queue.last == present[0].id, "\(reply.written)")
    }
}
