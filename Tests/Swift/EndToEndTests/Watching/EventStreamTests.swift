import Formats
import Foundation
import Storage
import TestKit
import Testing

/// `GET /v1/events` as a stream: Server-Sent Events as a browser reads them.
@Suite struct EventStreamTests {
    private static let far: (String, JSON) = ("not_before", "2999-01-01T00:00:00Z")

    @Test func streamsJournalAndThenNewEvents() async throws {
        let scene = try await Scene()
        _ = try await scene.job(in: .failed)
        let listener = try EventListener(to: scene.fetchd.port, "after=0")
        let id = try await scene.api.submit(scene.order())
        let state = try await listener.wait(for: "the job's end") { state in
            state.messages.contains { $0.type == "job.succeeded" }
        }
        #expect(state.status == 200)
        func header(_ name: String) -> String? { state.headers.first { $0.name.lowercased() == name }?.value }
        #expect(header("content-type") == "text/event-stream")
        #expect(header("cache-control") == "no-store")
        #expect(header("x-accel-buffering") == "no")
        #expect(state.retry == 2000 && state.positions.first == 0 && state.emptyBlocks == 0)
        let told = state.messages.filter { $0.id != nil }
        let journal = try await scene.api.events().prefix(told.count)
        #expect(told.map(\.data) == Array(journal))
        #expect(told.map { .integer($0.id ?? 0) } == journal.map { $0["id"] })
        #expect(told.map { .string($0.type) } == journal.map { $0["type"] })
        #expect(told.first { $0.type == "job.succeeded" }?.data["job"].string == id)
    }

    /// A stream without a position starts now; a client that lost the connection before the first event resumes from
    /// there.
    @Test func startsStreamAtNowAndResumesFromLastEventID() async throws {
        let scene = try await Scene()
        _ = try await scene.job(in: .failed)
        // The last event of its session.
        try await scene.api.waitForFinish(of: "default")
        let last = try await scene.lastEvent
        let listener = try EventListener(to: scene.fetchd.port)
        try await listener.wait(for: "the opening") { $0.lastID == last }
        #expect(listener.messages.isEmpty)
        listener.close()
        let first = try await scene.api.submit(scene.order("/file", Self.far))
        let again = try EventListener(to: scene.fetchd.port, "after=0", lastEventID: last)
        let second = try await scene.api.submit(scene.order("/file", Self.far))
        let state = try await again.wait(for: "two events") { $0.messages.count >= 2 }
        #expect(state.messages.map { $0.data["job"].string } == [first, second])
        #expect(again.ids.first == last + 1)
    }

    @Test func filtersStreamBySessionJobAndType() async throws {
        let scene = try await Scene()
        try await scene.api.declareSession("photos")
        let port = scene.fetchd.port
        let held = try await scene.heldJob()
        let session = try EventListener(to: port, "session=photos&after=0")
        let job = try EventListener(to: port, "job=\(held)&after=0")
        let type = try EventListener(to: port, "type=job.paused&after=0")
        let both = try EventListener(to: port, "type=session.*&session=photos&after=0")
        _ = try await scene.api.post("/v1/jobs/\(held)/pause")
        let photo = try await scene.api.submit(scene.order("/file", ("session", "photos")))
        try await both.wait(for: "the finish") { !$0.messages.isEmpty }
        try await session.wait(for: "the finish") { $0.messages.last?.type == "session.finished" }
        for listener in [job, type] {
            try await listener.wait(for: "the pause") { $0.messages.contains { $0.type == "job.paused" } }
        }
        func types(_ listener: EventListener) -> [String] { listener.messages.filter { $0.id != nil }.map(\.type) }
        #expect(types(session) == ["job.created", "job.started", "job.succeeded", "session.finished"])
        #expect(session.messages.allSatisfy { $0.data["session"] == "photos" })
        #expect(session.messages.first?.data["job"].string == photo)
        #expect(types(job) == ["job.created", "job.started", "job.paused"])
        #expect(types(type) == ["job.paused"])
        #expect(types(both) == ["session.finished"])
        for refused in ["type=job", "limit=1", "wait=1", "after=x", "since=1"] {
            let answer = try await scene.api.get("/v1/events?\(refused)", headers: [("Accept", "text/event-stream")])
            #expect(answer.status == 422)
        }
        let headers = [(name: "Accept", value: "text/event-stream"), (name: "Last-Event-ID", value: "x")]
        #expect(try await scene.api.get("/v1/events", headers: headers).problem == .init(kind: "invalid-value"))
    }

    /// The service is killed twice while 64 clients write, and the reader reconnects: its events equal the journal.
    @Test(.realProcess) func streamsEveryEventOnceAcrossKills() async throws {
        let scene = try await Scene()
        let isOver = Monitor(false)
        let order = scene.order("/file", Self.far)
        async let writers: Void = withTaskGroup(of: Void.self) { group in
            for _ in 0..<64 {
                group.addTask {
                    while !isOver.current { _ = try? await scene.api.post("/v1/jobs", order) }
                }
            }
        }
        var (ids, position): ([Int64], Int64) = ([], 0)
        for round in 0..<3 {
            let listener = try EventListener(to: scene.fetchd.port, lastEventID: position)
            try await listener.wait(for: "200 events") { $0.messages.count >= 200 }
            if round < 2 {
                try await scene.process.kill()
                try await listener.wait(for: "the end") { $0.end == .broken }
                try await scene.process.restart()
            } else {
                isOver.withLock { $0 = true }
                await writers
                let last = try await scene.lastEvent
                try await listener.wait(for: "the last event") { $0.lastID == last }
            }
            ids += listener.ids
            position = listener.state.current.lastID ?? position
        }
        let journal = try await scene.api.events().compactMap { $0["id"].integer }
        let isTheJournal = ids == journal
        #expect(isTheJournal, "\(ids.count) told, \(journal.count) in the journal")
    }

    @Test func sendsResetWhenStreamPositionWasPruned() async throws {
        let scene = try await Scene(
            .init {
                $0.start.values.eventRetention = 0
                $0.start.values.unacknowledgedRetention = 0.2
            })
        _ = try await scene.job(in: .failed)
        let last = try await eventually("the journal to forget") {
            let answer = try await scene.api.get("/v1/events?after=0")
            return answer.status == 410 ? answer.json["first_available"].integer : nil
        }
        let late = try EventListener(to: scene.fetchd.port, lastEventID: 0)
        let reset = try #require(try await late.wait(for: "the reset") { !$0.messages.isEmpty }.messages.first)
        #expect(reset.type == "reset")
        #expect(try #require(reset.data["first_available"].integer) >= last)
        #expect(reset.id == reset.data["first_available"].integer.map { $0 - 1 })
        // The stream continues from there. A position ahead of the journal, say of another service, also gets a reset.
        let id = try await scene.api.submit(scene.order("/file", Self.far))
        try await late.wait(for: "what follows") { $0.messages.contains { $0.data["job"].string == id } }
        let early = try EventListener(to: scene.fetchd.port, lastEventID: 1_000_000)
        try await early.wait(for: "the reset") { $0.messages.first?.type == "reset" }
        #expect(early.state.current.lastID ?? .max < 1_000_000)
    }

    @Test func sendsHeartbeatsWithPositionOnQuietStream() async throws {
        let scene = try await Scene(.init { $0.feed.heartbeat = .seconds(0.2) })
        let start = ContinuousClock.now
        let listener = try EventListener(to: scene.fetchd.port, "type=session.waiting")
        let quiet = try await listener.wait(for: "three heartbeats") { $0.heartbeats >= 3 }
        #expect(ContinuousClock.now - start >= .milliseconds(600))
        #expect(quiet.positions == [try await scene.lastEvent])
        // A heartbeat has the position if it has moved, so that filtered events need not be read again.
        _ = try await scene.job(in: .failed)
        let last = try await scene.lastEvent
        let moved = try await listener.wait(for: "the position") { $0.lastID ?? 0 >= last }
        #expect(moved.positions == moved.positions.sorted() && Set(moved.positions).count == moved.positions.count)
        let later = try await listener.wait(for: "another heartbeat") { $0.heartbeats > moved.heartbeats }
        #expect(later.messages.isEmpty && later.emptyBlocks == 0)
    }

    @Test func sendsProgressFourTimesPerSecondAndNeverAfterTheEnd() async throws {
        let scene = try await Scene()
        scene.origin.serve("/long", .file(Content.random(seed: 3, count: 4_000_000)))
        // It goes on, so that the stream has progress after the other job has ended.
        let other = try await scene.heldJob()
        let listener = try EventListener(to: scene.fetchd.port, "after=0")
        let start = ContinuousClock.now
        let id = try await scene.api.submit(
            scene.order("/long", ("rate_limit_bytes_per_second", 800_000)))
        let state = try await listener.wait(for: "the end") { $0.messages.contains { $0.type == "job.succeeded" } }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let reports = state.messages.filter { $0.type == "job.progress" && $0.data["job"].string == id }
        #expect(reports.count >= 3)
        // The spacing is not checked: late messages may be read together.
        #expect(Double(reports.count) <= 4 * seconds + 2)
        #expect(reports.allSatisfy { $0.id == nil && $0.data["session"] == "default" })
        let bytes = reports.compactMap { $0.data["progress"]["bytes_received"].integer }
        #expect(bytes == bytes.sorted() && bytes.count == reports.count)
        #expect(reports.last?.data["progress"]["bytes_expected"] == 4_000_000)
        try await listener.wait(for: "progress of the held job") {
            $0.messages.contains { $0.data["job"].string == other && $0.type == "job.progress" }
        }
        let end = try #require(state.messages.firstIndex { $0.type == "job.succeeded" })
        try await scene.api.submit(scene.order("/file", Self.far))
        try await listener.wait(for: "another") { $0.messages.count > state.messages.count }
        #expect(!listener.messages[end...].contains { $0.type == "job.progress" && $0.data["job"].string == id })
        #expect(try await scene.api.events(of: id).allSatisfy { $0["type"] != "job.progress" })
    }

    /// A new listener gets the current progress, not the last one sent to an earlier listener.
    @Test func sendsCurrentProgressToNewListener() async throws {
        let scene = try await Scene()
        scene.origin.serve("/long", .file(Content.random(seed: 3, count: 4_000_000)))
        let id = try await scene.api.submit(scene.order("/long", ("rate_limit_bytes_per_second", 400_000)))
        let first = try EventListener(to: scene.fetchd.port)
        try await first.wait(for: "progress") { $0.messages.contains { $0.type == "job.progress" } }
        first.close()
        let then = try await eventually("the job to have received much more") {
            let stats = try await scene.api.get("/v1/stats").json["watchers"]["streams"]
            let bytes = try await scene.api.poll(id).json["progress"]["bytes_received"].integer ?? 0
            return stats == 0 && bytes > 1_000_000 ? bytes : nil
        }
        let second = try EventListener(to: scene.fetchd.port)
        let report = try await second.wait(for: "progress") { $0.messages.contains { $0.type == "job.progress" } }
            .messages.first { $0.type == "job.progress" }
        #expect(try #require(report?.data["progress"]["bytes_received"].integer) >= then)
    }

    /// Slow readers cost no memory, and get every event once they read.
    @Test(.realProcess) func keepsMemoryBoundedForSlowReaders() async throws {
        let scene = try await Scene()
        let (gate, closed, token) = (Gate(), Gate(), String(repeating: "x", count: 4000))
        let before = scene.process.residentBytes
        let slow = try (0..<40).map { number in
            try EventListener(to: scene.fetchd.port, "after=0", gate: number < 2 ? gate : closed)
        }
        _ = try await eventually("40 streams to be open") {
            try await scene.api.get("/v1/stats").json["watchers"]["streams"] == 40 ? true : nil
        }
        // Each job.cancelled event has the whole document: some 5 KB each, 15 MB together.
        let jobs = (0..<1000).map { _ in scene.order("/file", Self.far, ("metadata", ["note": .string(token)])) }
        for _ in 0..<3 { try await scene.api.submit(all: jobs) }
        try await scene.api.perform("cancel", onAllOf: "default")
        let last = try await scene.lastEvent
        #expect(last >= 6000)
        let grown = scene.process.residentBytes - before
        // All events for every reader would be 600 MB.
        #expect(grown < 200 << 20, "\(grown >> 20) MiB")
        gate.open()
        let journal = try await scene.api.events().compactMap { $0["id"].integer }
        for listener in slow.prefix(2) {
            let isTheJournal = try await scene.ids(of: listener, through: last) == journal.filter { $0 <= last }
            #expect(isTheJournal)
        }
        for listener in slow { listener.close() }
        _ = try await eventually("the streams to be closed") {
            try await scene.api.get("/v1/stats").json["watchers"] == ["waits": 0, "streams": 0] ? true : nil
        }
    }

    @Test(.realProcess) func endsStreamsOrderlyAtShutdown() async throws {
        let scene = try await Scene()
        _ = try await scene.job(in: .running)
        let listeners = try (0..<20).map { _ in try EventListener(to: scene.fetchd.port, "after=0") }
        for listener in listeners { try await listener.wait(for: "an event") { !$0.messages.isEmpty } }
        let start = ContinuousClock.now
        #expect(try await scene.process.terminate() == .exited(0))
        for listener in listeners { try await listener.wait(for: "its end") { $0.end == .orderly } }
        #expect(ContinuousClock.now - start < .seconds(20))
    }
}

extension Scene {
    /// The events that a listener has read up to `last`. It reconnects if the service closed its stream because it read
    /// nothing for a minute, as browsers do.
    fileprivate func ids(of listener: EventListener, through last: Int64) async throws -> [Int64] {
        let state = try await listener.wait(for: "everything") {
            $0.lastID ?? 0 >= last || $0.end != nil
        }
        let read = listener.ids.filter { $0 <= last }
        guard let lastRead = state.lastID, lastRead < last else { return read }
        let next = try EventListener(to: fetchd.port, lastEventID: lastRead)
        return try await read + ids(of: next, through: last)
    }
}
