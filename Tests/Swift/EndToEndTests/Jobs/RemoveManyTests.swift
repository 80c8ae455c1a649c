import Downloads
import Formats
import Foundation
import TestKit
import Testing

/// `POST /v1/jobs/remove`: deletes the jobs that a list or a filter selects.
@Suite struct RemoveManyTests {
    private let scene: Scene
    private var api: APIClient { scene.api }

    init() async throws { scene = try await Scene() }

    private func remove(_ body: JSON, key: String? = nil) async throws -> APIAnswer {
        try await api.send(
            "POST", "/v1/jobs/remove", body, headers: key.map { [("Idempotency-Key", $0)] } ?? [])
    }

    private func counts(_ answer: APIAnswer) -> [Int64?] {
        ["matched", "changed", "refused"].map { answer.json[$0].integer }
    }

    private func left() async throws -> [String] {
        try await api.get("/v1/jobs?limit=1000").json["jobs"].arrayValue?.compactMap { $0["id"].string } ?? []
    }

    private func paused(_ count: Int, _ members: (String, JSON)...) async throws -> [String] {
        var order: JSONObject = ["url": .string(scene.origin.url("/file")), "state": "paused"]
        for (name, value) in members { order[name] = value }
        return try await api.submit(all: Array(repeating: .object(order), count: count))
    }

    // MARK: Jobs

    @Test(arguments: [false, true]) func deletesAJobInEachState(_ deletesFiles: Bool) async throws {
        scene.holdResumedDownloads()
        var ids: [String] = []
        for state in JobState.Kind.allCases { ids.append(try await scene.job(in: state)) }
        // The job that holds the slot of the queued one stays.
        let other = try await left().filter { !ids.contains($0) }
        let answer = try await remove([
            "ids": .strings(ids + ["job_none", ids[0]]), "file": deletesFiles ? "delete" : "keep",
        ])
        #expect(answer.status == 200 && counts(answer) == [7, 7, 1], "\(answer)")
        #expect(answer.json["problems"] == [["id": "job_none", "code": "not-found"]])
        #expect(try await left() == other)
        #expect((scene.fetchd.downloaded("file") == nil) == deletesFiles)
        for id in ids {
            #expect(try await api.events(of: id).last?["type"] == "job.deleted")
            #expect(try await api.events(of: id).count { $0["type"] == "job.cancelled" } <= 1)
        }
        _ = try await eventually("the parts to be removed") { scene.fetchd.partFiles.count == other.count ? true : nil }
    }

    /// More jobs than a step has: one answer, one entry of the audit log, and events for each job.
    @Test func deletesManyInSteps() async throws {
        let (old, new) = (try await paused(2300, ("tags", ["old"])), try await paused(3, ("tags", ["new"])))
        let answer = try await remove(["filter": ["tag": "old"]])
        #expect(answer.status == 200 && counts(answer) == [2300, 2300, 0], "\(answer)")
        #expect(answer.json["problems"] == [])
        #expect(try await left() == new.reversed())
        for type in ["job.cancelled", "job.deleted"] {
            let told = try await api.journal(of: "default", type: type).compactMap { $0["job"].string }
            #expect(told.sorted() == old.sorted(), "\(type)")
        }
        let entries = try await api.get("/v1/audit").json["entries"].arrayValue ?? []
        #expect(entries.map { $0["action"] } == ["POST /v1/jobs/remove"])
        #expect(entries.first?["change"] == "tag old: 2300 matched, 2300 changed, 0 refused")
        #expect(try await api.session("default")["counts"].objectValue?.members.map(\.value) == [0, 0, 0, 3, 0, 0, 0])
    }

    @Test func filtersNarrowTogether() async throws {
        try await api.declareSession("films")
        let done = try await scene.job(in: .succeeded)
        _ = try await scene.job(in: .failed)
        let film = try await paused(1, ("session", "films"), ("tags", ["Large"]))[0]
        let finishedAt = try #require(try await api.job(done)["finished_at"].string)
        func matched(_ filter: JSON) async throws -> Int64? {
            try await remove(["filter": filter]).json["matched"].integer
        }
        // None of these selects a job.
        for filter in [
            ["session": "none"], ["state": "cancelled"], ["tag": "large"], ["q": "nothing"],
            ["ended_before": "1969-01-01T00:00:00Z"], ["ended_before": .string(finishedAt), "state": "succeeded"],
            ["session": "films", "state": "failed"], ["session": "films", "ended_before": .moment(in: 60)],
        ] as [JSON] {
            #expect(try await matched(filter) == 0, "\(filter.written)")
        }
        #expect(try await left().count == 3)
        #expect(try await matched(["q": "MISSING", "ended_before": .moment(in: 60)]) == 1)
        #expect(try await left() == [film, done])
        #expect(try await matched(["q": "large", "session": "films", "state": "paused", "tag": "Large"]) == 1)
        #expect(try await left() == [done])
        #expect(try await remove(["all": true]).json["changed"] == 1)
        #expect(try await left().isEmpty)
    }

    // MARK: Requests

    @Test(
        arguments: [
            .init([:], "missing-field", "/ids"), .init(["file": "delete"], "missing-field", "/ids"),
            .invalid(["filter": [:]], "/filter"), .invalid(["filter": ["state": nil]], "/filter"),
            .invalid(["filter": ["state": "done"]], "/filter/state"), .invalid(["filter": ["q": ""]], "/filter/q"),
            .invalid(["filter": ["session": "a b"]], "/filter/session"),
            .invalid(["filter": ["ended_before": "7d"]], "/filter/ended_before"),
            .unknown(["filter": ["host": "a"]], "/filter/host"), .invalid(["ids": []], "/ids"),
            .invalid(["ids": .strings(Array(repeating: "a", count: 10_001))], "/ids"), .invalid(["ids": "a"], "/ids"),
            .invalid(["all": false], "/all"), .invalid(["all": true, "ids": ["a"]], "/all"),
            .invalid(["all": true, "filter": ["tag": "a"]], "/all"), .invalid(["all": true, "file": "move"], "/file"),
            .unknown(["all": true, "position": 0], "/position"),
        ] as [Refusal])
    func refusesBeforeAnythingIsDeleted(_ refusal: Refusal) async throws {
        let id = try await paused(1)
        let answer = try await remove(.object(refusal.members))
        #expect(answer.status == 422 && answer.problem == refusal.problem, "\(answer)")
        #expect(try await left() == id)
        #expect(try await api.get("/v1/audit").json["entries"].count == 0)
    }

    /// A repetition gets the first answer, also while the first request is carried out.
    @Test func repeatsTheFirstAnswer() async throws {
        _ = try await paused(1500)
        let answers = try await withThrowingTaskGroup(of: APIAnswer.self) { group in
            for _ in 0..<3 { group.addTask { try await remove(["all": true], key: "k") } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for answer in answers { #expect(counts(answer) == [1500, 1500, 0], "\(answer)") }
        let later = try await paused(2)
        #expect(try await remove(["all": true], key: "k").body == answers[0].body)
        let reused = try await remove(["filter": ["state": "paused"]], key: "k")
        #expect(reused.status == 422 && reused.problem == .init(kind: "idempotency-key-reused"))
        #expect(try await left() == later.reversed())
        #expect(try await api.get("/v1/audit").json["entries"].count == 1)
    }
}
