import Formats
import Foundation
import TestKit
import Testing

/// What a queued job says about its place in the queue, and what it waits for.
@Suite struct QueueEntryTests {
    @Test func jobSaysWhatItWaitsFor() async throws {
        let time = ManualTime()
        let scene = try await Scene(.init { $0.time = time })
        try await scene.api.declareSession("small", ["max_concurrent_jobs": 1])
        scene.origin.serve("/closed", .file(scene.bytes), .answering(429, headers: [("Retry-After", "60")]).once)
        let free = try Origin()
        free.serve("/held", .file(scene.bytes), .waiting(at: 0, for: scene.gate))

        let running = try await scene.api.submit(["url": .string(free.url("/held")), "session": "small"])
        await free.waitForRequests("/held", count: 1)
        let next = try await scene.api.submit(all: [
            ["url": .string(free.url("/held?1")), "session": "small"],
            ["url": .string(free.url("/held?2")), "session": "small"],
        ])
        for (place, id) in next.enumerated() {
            #expect(try await scene.api.job(id)["queue"] == Self.entry("session_limit", place))
        }
        #expect(try await scene.api.job(running)["queue"] == .null)

        try await scene.api.waitForJob(scene.api.submit(scene.order("/closed")), .waiting)
        let paused = try await scene.api.submit(scene.order("/closed"))
        let closed = Self.entry("host_paused", 0, until: time.now.addingTimeInterval(60))
        #expect(try await scene.api.job(paused)["queue"] == closed)
        let later = scene.order("/closed", ("not_before", .time(time.now.addingTimeInterval(90))))
        #expect(
            try await scene.api.job(scene.api.submit(later))["queue"]
                == Self.entry("not_before", 1, until: time.now.addingTimeInterval(90)))

        let list = try await scene.api.get("/v1/jobs?state=queued").json["jobs"].arrayValue ?? []
        #expect(
            list.map { $0["queue"]["blocked_by"] }
                == ["not_before", "host_paused", "session_limit", "session_limit"])
        let act = try await scene.api.post("/v1/jobs/\(next[1])/move", ["to": "top"])
        #expect(act.json["queue"] == Self.entry("session_limit", 0))
        scene.gate.open()
        for id in next { try await scene.api.waitForJob(id, .succeeded) }
    }

    /// A response without a place says no wrong one.
    @Test func createdJobHasNoPlaceYet() async throws {
        let scene = try await Scene()
        let created = try await scene.api.post("/v1/jobs", scene.order("/held"))
        #expect(created.status == 201 && created.json["queue"] == Self.entry(nil, nil))
    }

    /// The ETag covers the place, but a change of the place alone ends no wait.
    @Test func versionOfAQueuedJob() async throws {
        let scene = try await Scene(process: .init(arguments: ["--max-concurrent-jobs", "1"]))
        let held = try await scene.api.submit(scene.order("/held"))
        try await scene.api.waitForBytes(held)
        let ids = try await scene.api.submit(all: [scene.order(), scene.order()])
        let path = "/v1/jobs/\(ids[1])"
        let first = try await scene.api.get(path)
        let known = [(name: "If-None-Match", value: try #require(first.header("ETag")))]
        #expect(first.json["queue"] == Self.entry("service_limit", 1))
        #expect(try await scene.api.get(path, headers: known).status == 304)

        try await scene.api.act(.pause, on: ids[0])
        let second = try await eventually("the new place") {
            let answer = try await scene.api.get(path, headers: known)
            return answer.status == 200 ? answer : nil
        }
        #expect(second.json["queue"] == Self.entry("service_limit", 0))
        #expect(second.header("ETag") != first.header("ETag"))
        let wait = (name: "Prefer", value: "wait=1")
        let present = [(name: "If-None-Match", value: try #require(second.header("ETag")))]
        let same = try await scene.api.get(path, headers: present + [wait])
        #expect(same.status == 304 && same.header("Preference-Applied") == "wait=1")
        // At its end, a wait has the present place.
        for headers in [[wait], known + [wait]] {
            let begin = ContinuousClock.now
            let whole = try await scene.api.get(path, headers: headers)
            #expect(whole.status == 200 && whole.json["queue"] == Self.entry("service_limit", 0))
            #expect(begin.duration(to: .now) > .seconds(0.9))
        }
    }

    private static func entry(_ blocker: String?, _ position: Int?, until: Date? = nil) -> JSON {
        ["blocked_by": .optional(blocker), "until": .optional(until), "position": position.map(JSON.count) ?? .null]
    }
}
