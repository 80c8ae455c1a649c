import Downloads
import Formats
import Foundation
import TestKit
import Testing

/// `POST /v1/jobs/{action}` with the jobs that a list or a filter selects. `RemoveManyTests` has what selects them.
@Suite struct ManyJobsTests {
    private let scene: Scene
    private var api: APIClient { scene.api }

    init() async throws { scene = try await Scene() }

    private func counts(_ answer: APIAnswer) -> [Int64?] {
        ["matched", "changed", "refused"].map { answer.json[$0].integer }
    }

    private func states(of session: String = "default") async throws -> [String: Int64] {
        let counts = try await api.session(session)["counts"].objectValue?.members ?? []
        return Dictionary(uniqueKeysWithValues: counts.map { ($0.name, $0.value.integer ?? -1) }).filter {
            $0.value != 0
        }
    }

    private func paused(_ count: Int, _ members: (String, JSON)...) async throws -> [String] {
        var order: JSONObject = ["url": .string(scene.origin.url("/file")), "state": "paused"]
        for (name, value) in members { order[name] = value }
        return try await api.submit(all: Array(repeating: .object(order), count: count))
    }

    /// The jobs of the list in the order in which they start.
    private func queue() async throws -> [String] {
        let jobs = try await api.get("/v1/jobs?limit=1000").json["jobs"].arrayValue ?? []
        return jobs.compactMap { job in
            job["id"].string.map { (id: $0, rank: job["queue_rank"].string ?? $0) }
        }.sorted { $0.rank < $1.rank }.map(\.id)
    }

    // MARK: Signals

    /// The table of docs/job-lifecycle.md holds for many jobs, too.
    @Test(arguments: JobSignal.Action.allCases) func actsOnAJobInEachState(_ action: JobSignal.Action) async throws {
        scene.holdResumedDownloads()
        let cells = JobActionTableTests.cells.filter { $0.action == action }
        var ids: [String] = []
        for cell in cells { ids.append(try await scene.job(in: cell.state)) }
        let answer = try await api.post("/v1/jobs/\(action)", ["ids": .strings(ids)])
        let refused = zip(ids, cells).filter { $0.1.result == nil }.map(\.0)
        let changed = cells.count { $0.result != nil && $0.result != $0.state }
        #expect(answer.status == 200 && counts(answer) == [7, Int64(changed), Int64(refused.count)], "\(answer)")
        let problems = answer.json["problems"].arrayValue ?? []
        #expect(problems.compactMap { $0["id"].string } == refused)
        #expect(problems.allSatisfy { $0["code"] == "state-conflict" })
        for (id, cell) in zip(ids, cells) {
            let state = try await api.job(id)["state"].string
            // A job that is queued again may be running by now.
            let results =
                cell.result == .queued
                ? ["queued", "running", "waiting", "succeeded", "failed"] : [(cell.result ?? cell.state).rawValue]
            #expect(results.contains(state ?? ""), "\(cell): \(state ?? "none")")
        }
    }

    /// No queued job starts in the slot of one that the same request has stopped.
    @Test(arguments: ["pause", "cancel"]) func stopsRunningJobsLast(_ action: String) async throws {
        try await api.declareSession("films", ["max_concurrent_jobs": 2])
        let running = try await api.submit(all: Array(repeating: scene.order("/held", ("session", "films")), count: 2))
        for id in running { try await api.waitForBytes(id) }
        _ = try await api.submit(all: Array(repeating: scene.order("/file", ("session", "films")), count: 1100))
        let answer = try await api.post("/v1/jobs/\(action)", ["filter": ["session": "films"]])
        #expect(answer.status == 200 && counts(answer) == [1102, 1102, 0], "\(answer)")
        #expect(try await states(of: "films") == [action == "pause" ? "paused" : "cancelled": 1102])
        let started = try await api.journal(of: "films", type: "job.started").compactMap { $0["job"].string }
        #expect(started.sorted() == running.sorted())
        let entries = try await api.get("/v1/audit").json["entries"].arrayValue ?? []
        #expect(entries.map { $0["action"] } == ["PUT /v1/sessions/{session}", .string("POST /v1/jobs/\(action)")])
    }

    @Test func keepsTheBytesOfCancelledJobsIfAsked() async throws {
        let id = try await scene.job(in: .running)
        let answer = try await api.post("/v1/jobs/cancel", ["all": true, "produce_resume_data": true])
        #expect(counts(answer) == [1, 1, 0])
        #expect(try await api.get("/v1/jobs/\(id)/resume-data").status == 200)
        let entry = try await api.get("/v1/audit").json["entries"][0]["change"]
        #expect(entry == "all, with resume data: 1 matched, 1 changed, 0 refused")
    }

    @Test func retryOfADeletedSessionIsRefusedForItsJobsOnly() async throws {
        try await api.declareSession("films")
        try await api.declareSession("held")
        let failed = try await api.submit(scene.order("/missing", ("session", "films")))
        try await api.waitForJob(failed, .failed)
        let other = try await scene.job(in: .failed)
        let held = try await api.submit(scene.order("/held", ("session", "films")))
        try await api.waitForBytes(held)
        _ = try await api.send("DELETE", "/v1/sessions/films")
        let answer = try await api.post("/v1/jobs/retry", ["ids": .strings([failed, other])])
        #expect(counts(answer) == [2, 1, 1])
        #expect(answer.json["problems"] == [["id": .string(failed), "code": "session-finishing"]])
        scene.gate.open()
    }

    // MARK: Changes

    @Test func changesMembersOfManyJobs() async throws {
        let old = try await paused(1100, ("tags", ["old"]), ("metadata", ["a": "1", "b": "2"]))
        let done = try await scene.job(in: .succeeded)
        let patch: JSON = ["priority": "high", "metadata": ["b": nil, "c": "3"]]
        let answer = try await api.post("/v1/jobs/change", ["all": true, "patch": patch])
        #expect(counts(answer) == [1101, 1100, 1], "\(answer)")
        #expect(answer.json["problems"] == [["id": .string(done), "code": "state-conflict"]])
        for id in [old[0], old[1099]] {
            let job = try await api.job(id)
            #expect(job["priority"] == "high" && job["metadata"] == ["a": "1", "c": "3"] && job["revision"] == 2)
        }
        let again = try await api.post("/v1/jobs/change", ["filter": ["tag": "old"], "patch": ["priority": "high"]])
        #expect(counts(again) == [1100, 0, 0])
        #expect(try await api.job(old[0])["revision"] == 2)
        let entry = try await api.get("/v1/audit").json["entries"][0]["change"]
        #expect(entry == "all, changes of metadata, priority: 1101 matched, 1100 changed, 1 refused")
    }

    @Test func aRunningJobAppliesTheNewLimit() async throws {
        scene.origin.serve("/long", .file(Content.random(seed: 5, count: 3_000_000)))
        let id = try await api.submit(scene.order("/long", ("rate_limit_bytes_per_second", 1000)))
        try await api.waitForBytes(id)
        let patch: JSON = ["rate_limit_bytes_per_second": nil]
        #expect(counts(try await api.post("/v1/jobs/change", ["ids": [.string(id)], "patch": patch])) == [1, 1, 0])
        try await api.waitForJob(id, .succeeded)
        #expect(try await api.job(id)["attempts"] == 1)
    }

    @Test(
        arguments: [
            .init(["all": true], "missing-field", "/patch"), .invalid(["all": true, "patch": [:]], "/patch"),
            .invalid(["all": true, "patch": ["url": "https://192.0.2.1/b"]], "/patch/url"),
            .invalid(["all": true, "patch": ["headers": [:]]], "/patch/headers"),
            .invalid(["all": true, "patch": ["credentials": nil]], "/patch/credentials"),
            .invalid(["all": true, "patch": ["destination": ["filename": "a"]]], "/patch/destination"),
            .invalid(["all": true, "patch": ["priority": "first"]], "/patch/priority"),
            .invalid(["all": true, "patch": ["deadline": "1969-01-01T00:00:00Z"]], "/patch/deadline"),
            .unknown(["all": true, "patch": ["tags": ["a"]]], "/patch/tags"),
        ] as [Refusal])
    func refusesAChangeBeforeAnythingIsWritten(_ refusal: Refusal) async throws {
        let id = try await paused(1)[0]
        let answer = try await api.post("/v1/jobs/change", .object(refusal.members))
        #expect(answer.status == 422 && answer.problem == refusal.problem, "\(answer)")
        #expect(try await api.job(id)["revision"] == 1)
    }

    // MARK: Moves

    @Test func movedJobsStandTogetherInTheirOrder() async throws {
        let ids = try await paused(8)
        func move(_ jobs: [Int], _ place: (String, JSON)) async throws -> [Int?] {
            var body: JSONObject = ["ids": .strings(jobs.map { ids[$0] })]
            body[place.0] = place.1
            let answer = try await api.post("/v1/jobs/move", .object(body))
            #expect(answer.status == 200 && answer.json["refused"] == 0, "\(answer)")
            return try await queue().map { ids.firstIndex(of: $0) }
        }
        #expect(try await move([6, 2], ("to", "top")) == [6, 2, 0, 1, 3, 4, 5, 7])
        #expect(try await move([6, 3], ("to", "bottom")) == [2, 0, 1, 4, 5, 7, 6, 3])
        #expect(try await move([3, 0, 5], ("after", .string(ids[1]))) == [2, 1, 3, 0, 5, 4, 7, 6])
        #expect(try await move([4, 7, 6], ("before", .string(ids[1]))) == [2, 4, 7, 6, 1, 3, 0, 5])
        #expect(try await move([2, 5], ("position", 3)) == [4, 7, 6, 2, 5, 1, 3, 0])
        #expect(try await move([4], ("position", 0)) == [4, 7, 6, 2, 5, 1, 3, 0])
        #expect(try await move([4], ("position", 100)) == [7, 6, 2, 5, 1, 3, 0, 4])
    }

    /// A filter keeps the present order, in several steps, and the ranks stay short.
    @Test(arguments: ["top", "before", "after"]) func manyKeepTheirOrder(_ place: String) async throws {
        let first = try await paused(1)[0]
        let (some, last) = (try await paused(2300, ("tags", ["old"])), try await paused(1)[0])
        let target: (String, JSON) =
            switch place {
            case "top": ("to", "top")
            case "before": ("before", .string(first))
            default: ("after", .string(last))
            }
        var body: JSONObject = ["filter": ["tag": "old"]]
        body[target.0] = target.1
        let answer = try await api.post("/v1/jobs/move", .object(body))
        #expect(counts(answer) == [2300, 2300, 0], "\(answer)")
        var (order, cursor): ([(id: String, rank: String)], String?) = ([], nil)
        repeat {
            let page = try await api.get("/v1/jobs?limit=1000" + (cursor.map { "&cursor=\($0)" } ?? "")).json
            for job in page["jobs"].arrayValue ?? [] {
                order.append((job["id"].string ?? "", job["queue_rank"].string ?? job["id"].string ?? ""))
            }
            cursor = page["next_cursor"].string
        } while cursor != nil
        order.sort { $0.rank < $1.rank }
        #expect(order.map(\.id) == (place == "after" ? [first, last] + some : some + [first, last]))
        #expect(order.allSatisfy { $0.rank.utf8.count <= 40 })
    }

    @Test func refusesWhatCannotBeMoved() async throws {
        let ids = try await paused(3)
        let done = try await scene.job(in: .succeeded)
        let answer = try await api.post(
            "/v1/jobs/move", ["ids": .strings([ids[0], done, ids[1], "job_none"]), "after": .string(ids[1])])
        #expect(counts(answer) == [3, 1, 3], "\(answer)")
        let codes = answer.json["problems"].arrayValue?.map { [$0["id"].string, $0["code"].string] }
        #expect(
            Set(codes ?? []) == [["job_none", "not-found"], [done, "state-conflict"], [ids[1], "state-conflict"]])
        #expect(try await queue().filter { $0 != done } == [ids[1], ids[0], ids[2]])
        for body in [["all": true], ["all": true, "to": "middle"], ["all": true, "to": "top", "position": 1]] as [JSON]
        {
            #expect(try await api.post("/v1/jobs/move", body).status == 422)
        }
    }
}
