import Downloads
import Formats
import Foundation
import TestKit
import Testing

/// Which jobs get slots, and how long they hold them.
@Suite struct QueueTests {
    // MARK: One at a time

    /// When a request arrives, every earlier file is in its place: a job holds its slot through the promotion.
    @Test func runsSessionWithOneSlotSerially() async throws {
        let (fetchd, origin) = (try await FetchdProcess.start(), try Origin())
        try await fetchd.api.declareSession("strict", ["max_concurrent_jobs": 1])
        let promoted = Monitor<[Int]>([])
        for index in 0..<8 {
            let bytes = Content.random(seed: UInt64(index), count: 300_000 + index)
            let look = OriginBehaviour(prepare: { [folder = fetchd.folder] _ in
                let count = (0..<8).count { folder.bytes(of: "downloads/\($0)") != nil }
                promoted.withLock { $0.append(count) }
            })
            // Some downloads need two requests.
            let stumble = OriginBehaviour.closing(after: 100_000).once
            origin.serve("/\(index)", .file(bytes), [look] + (index % 3 == 0 ? [stumble] : []))
        }
        let ids = try await fetchd.api.submit(
            all: (0..<8).map {
                [
                    "url": .string(origin.url("/\($0)")), "session": "strict", "retry": ["base_seconds": 0],
                ]
            })
        for id in ids { try await fetchd.api.waitForJob(id, .succeeded) }
        #expect(origin.maxConcurrentRequests == 1)
        // Three downloads broke off once and were requested again.
        #expect(origin.requests.count == 11)
        // Each starting job finds the files of all earlier jobs.
        #expect(promoted.current == promoted.current.sorted())
        #expect(promoted.current.last == 7)
    }

    /// The next job starts only after the rename of the previous job's file.
    @Test func startsNextJobOnlyAfterFileIsPromoted() async throws {
        let (fetchd, origin) = (try await FetchdProcess.start(), try Origin())
        try await fetchd.api.declareSession("strict", ["max_concurrent_jobs": 1])
        let places = Monitor<[Bool]>([])
        for index in 0..<6 {
            origin.serve(
                "/\(index)", .file(Content.random(seed: UInt64(index), count: 2_000_000)),
                OriginBehaviour(prepare: { [folder = fetchd.folder] _ in
                    guard index > 0 else { return }
                    places.withLock { $0.append(folder.bytes(of: "downloads/\(index - 1)")?.count == 2_000_000) }
                }))
        }
        let ids = try await fetchd.api.submit(
            all: (0..<6).map { ["url": .string(origin.url("/\($0)")), "session": "strict"] })
        for id in ids { try await fetchd.api.waitForJob(id, .succeeded) }
        #expect(places.current == [true, true, true, true, true])
        #expect(origin.maxConcurrentRequests == 1)
    }

    @Test(arguments: [JobSignal.Action.pause, .cancel])
    func freesSlotOfPausedOrCancelledJob(_ action: JobSignal.Action) async throws {
        let scene = try await Scene(process: .init(arguments: ["--max-concurrent-jobs", "1"]))
        let held = try await scene.api.submit(scene.order("/held"))
        try await scene.api.waitForBytes(held)
        let next = try await scene.api.submit(scene.order())
        #expect(try await scene.api.job(next)["state"] == "queued")
        try await scene.api.act(action, on: held)
        try await scene.api.waitForJob(next, .succeeded)
    }

    @Test func startsQueuedJobsWhenSessionLimitIsRaised() async throws {
        let scene = try await Scene()
        try await scene.api.declareSession("films", ["max_concurrent_jobs": 1])
        let ids = try await scene.api.submit(all: (0..<3).map { _ in scene.order("/held", ("session", "films")) })
        try await scene.api.waitForBytes(ids[0])
        #expect(try await scene.api.counts(of: "films") == ["running": 1, "queued": 2])
        try await scene.api.declareSession("films", ["max_concurrent_jobs": 3])
        for id in ids { try await scene.api.waitForBytes(id) }
        #expect(scene.origin.maxConcurrentRequests == 3)
    }

    // MARK: Several limits

    /// Of the limits of service, session and host, the one that is reached first applies.
    @Test func appliesServiceSessionAndHostLimitsTogether() async throws {
        let options = ["--max-concurrent-jobs", "4", "--max-connections-per-host", "2"]
        let (first, second) = (try await Scene(process: .init(arguments: options)), try Origin())
        let (api, gate) = (first.api, first.gate)
        second.serve("/held", .file(first.bytes), .waiting(at: 100_000, for: gate))
        try await api.declareSession("three", ["max_concurrent_jobs": 3])
        try await api.declareSession("many", ["max_connections_per_host": 100])
        func orders(_ session: JSON) -> [JSON] {
            [first.origin, second].flatMap { origin in
                [JSON](repeating: ["url": .string(origin.url("/held")), "session": session], count: 5)
            }
        }
        let three = try await api.submit(all: orders("three"))
        #expect(await gate.reached(by: 3))
        // Two jobs of the first host, whose limit is then reached; the third is of the other host.
        #expect(try await api.counts(of: "three") == ["running": 3, "queued": 7])
        #expect(first.origin.requests.count == 2)
        #expect(second.requests.count == 1)
        let many = try await api.submit(all: orders("many"))
        #expect(await gate.reached(by: 4))
        #expect(try await api.counts(of: "many") == ["running": 1, "queued": 9])
        #expect(second.requests.count == 2)
        gate.open()
        for id in three + many { try await api.waitForJob(id, .succeeded) }
        #expect(first.origin.maxConcurrentRequests == 2)
        #expect(second.maxConcurrentRequests == 2)
    }

    /// The smaller of the service's and the session's limit applies to each host.
    @Test(arguments: [(service: 5, session: 2, most: 2), (service: 2, session: 5, most: 2)])
    func appliesSmallerConnectionLimitPerHost(service: Int, session: Int, most: Int) async throws {
        let scene = try await Scene(process: .init(arguments: ["--max-connections-per-host", "\(service)"]))
        try await scene.api.declareSession("polite", ["max_connections_per_host": .count(session)])
        let ids = try await scene.api.submit(all: (0..<8).map { _ in scene.order("/held", ("session", "polite")) })
        #expect(await scene.gate.reached(by: most))
        // Jobs that are admitted later have the same limit: no further job starts while these run.
        let other = try Origin()
        other.serve("/other", .file(scene.bytes))
        let witness = try await scene.api.submit(["url": .string(other.url("/other")), "session": "polite"])
        try await scene.api.waitForJob(witness, .succeeded)
        #expect(try await scene.api.counts(of: "polite")["running"] == Int64(most))
        scene.gate.open()
        for id in ids { try await scene.api.waitForJob(id, .succeeded) }
        #expect(scene.origin.maxConcurrentRequests == most)
    }

    // MARK: Order

    @Test func startsHighBeforeNormalBeforeLowPriority() async throws {
        let scene = try await Scene(process: .init(arguments: ["--max-concurrent-jobs", "1"]))
        let held = try await scene.api.submit(scene.order("/held"))
        try await scene.api.waitForBytes(held)
        try await scene.api.declareSession("urgent", ["priority": "high"])
        var ids: [String] = []
        func submit(_ name: String, _ members: (String, JSON)...) async throws {
            scene.origin.serve("/\(name)", .file([1]))
            var order: JSONObject = ["url": .string(scene.origin.url("/\(name)"))]
            for (name, value) in members { order[name] = value }
            ids.append(try await scene.api.submit(.object(order)))
        }
        try await submit("low", ("priority", "low"))
        try await submit("normal")
        try await submit("changed", ("priority", "low"))
        try await submit("low-of-urgent", ("session", "urgent"), ("priority", "low"))
        try await submit("high", ("priority", "high"))
        try await submit("high-of-urgent", ("session", "urgent"))
        try await scene.api.change(ids[2], ["priority": "high"])
        // A job keeps its waiting time when its priority changes.
        scene.gate.open()
        for id in ids { try await scene.api.waitForJob(id, .succeeded) }
        let order = scene.origin.requests.map(\.path).dropFirst()
        #expect(Set(order.prefix(3)) == ["/changed", "/high", "/high-of-urgent"])
        #expect(order.firstIndex(of: "/changed")! < order.firstIndex(of: "/high")!)
        #expect(order.dropFirst(3).first == "/normal")
        #expect(Set(order.suffix(2)) == ["/low", "/low-of-urgent"])
    }

    /// A thousand queued jobs of one session do not delay three jobs of another session until their end.
    @Test func startsJobsOfSmallSessionBeforeBacklogOfLargeOne() async throws {
        let scene = try await Scene(process: .init(arguments: ["--max-concurrent-jobs", "2"]))
        scene.origin.serve("/crowd", .file([1]))
        scene.origin.serve("/few", .file([2]))
        for name in ["blocker", "crowd", "few"] { try await scene.api.declareSession(name) }
        let held = try await scene.api.submit(all: (0..<2).map { _ in scene.order("/held", ("session", "blocker")) })
        for id in held { try await scene.api.waitForBytes(id) }
        try await scene.api.submit(all: (0..<1000).map { _ in scene.order("/crowd", ("session", "crowd")) })
        let few = try await scene.api.submit(all: (0..<3).map { _ in scene.order("/few", ("session", "few")) })
        scene.gate.open()
        for id in few { try await scene.api.waitForJob(id, .succeeded) }
        let order = scene.origin.requests.map(\.path).filter { $0 != "/held" }
        // About every second slot is theirs, so they end long before the queue does.
        #expect(try #require(order.lastIndex(of: "/few")) < 50)
    }
}
