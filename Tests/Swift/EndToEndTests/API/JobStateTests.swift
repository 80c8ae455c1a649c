import Downloads
import Formats
import TestKit
import Testing

/// Actions and deletions that clients may request of a job, and those that are refused.
@Suite struct JobStateTests {
    @Test(arguments: JobSignal.Action.allCases)
    func refusesInvalidOptionsOfActions(_ action: JobSignal.Action) async throws {
        let scene = try await Scene()
        let id = try await scene.job(in: action == .retry ? .failed : .paused)
        let path = "/v1/jobs/\(id)/\(action.rawValue)"
        #expect(try await scene.api.post(path, ["now": true]).problem == .init(kind: "unknown-field", pointer: "/now"))
        #expect(try await scene.api.post(path, []).problem == .init(kind: "invalid-value", pointer: ""))
        let malformed = try await scene.api.send("POST", path, bytes: Array("{".utf8))
        #expect(malformed.problem == .init(kind: "malformed-json"))
        let plain = try await scene.api.send("POST", path, [:], headers: [("Content-Type", "text/plain")])
        #expect(plain.status == 415)
        if action == .cancel {
            let answer = try await scene.api.post(path, ["produce_resume_data": "yes"])
            #expect(answer.problem == .init(kind: "invalid-value", pointer: "/produce_resume_data"))
            #expect(try await scene.api.post(path, ["produce_resume_data": false]).status == 200)
        }
        #expect(try await scene.api.post(path, [:]).status == 200)
    }

    @Test func answers404ForUnknownJob() async throws {
        let scene = try await Scene()
        for id in ["job_01HZX3K9V7Q2N4R8T6W0YB5CDE", "job_", "42", "%00"] {
            for answer in [
                try await scene.api.get("/v1/jobs/\(id)"), try await scene.api.delete("/v1/jobs/\(id)"),
                try await scene.api.get("/v1/jobs/\(id)/file"), try await scene.api.post("/v1/jobs/\(id)/pause"),
                try await scene.api.post("/v1/jobs/\(id)/resume"), try await scene.api.post("/v1/jobs/\(id)/cancel"),
                try await scene.api.post("/v1/jobs/\(id)/retry"),
            ] {
                #expect(answer.status == (id == "%00" ? 400 : 404))
                #expect(answer.problem == .init(kind: id == "%00" ? "malformed-request" : "not-found"))
            }
        }
    }

    @Test(arguments: JobState.Kind.allCases)
    func deletesJobInEveryState(_ state: JobState.Kind) async throws {
        let scene = try await Scene()
        let id = try await scene.job(in: state)
        #expect(try await scene.api.delete("/v1/jobs/\(id)").status == 204)
        #expect(try await scene.api.get("/v1/jobs/\(id)").status == 404)
        #expect(try await scene.api.delete("/v1/jobs/\(id)").status == 404)
        #expect(try await scene.api.events(of: id).last?["type"] == "job.deleted")
        #expect(scene.fetchd.downloaded("file") == (state == .succeeded ? scene.bytes : nil))
    }

    /// The clock stands still, so a deletion that waits does not end.
    @Test func deletesOutstandingJobAtOnce() async throws {
        let service = try await LocalService.start(.init { $0.time = ManualTime() })
        for field: (String, JSON) in [("state", "paused"), ("not_before", "2030-01-01T00:00:00Z")] {
            let id = try await service.api.submit(["url": "http://127.0.0.1:9/file", field.0: field.1])
            #expect(try await service.api.delete("/v1/jobs/\(id)").status == 204)
            #expect(try await service.api.get("/v1/jobs/\(id)").status == 404)
        }
    }

    @Test func keepsFileOfDeletedJobUnlessFileIsDelete() async throws {
        let scene = try await Scene()
        for (query, isKept) in [("", true), ("?file=keep", true), ("?file=delete", false)] {
            let order = scene.order().with(["destination": ["filename": "f", "on_conflict": "replace"]])
            let id = try await scene.api.submit(order)
            try await scene.api.waitForJob(id, .succeeded)
            #expect(try await scene.api.delete("/v1/jobs/\(id)\(query)").status == 204)
            #expect((scene.fetchd.downloaded("f") != nil) == isKept)
        }
        let id = try await scene.job(in: .succeeded)
        #expect(try await scene.api.delete("/v1/jobs/\(id)?file=maybe").problem == .init(kind: "invalid-value"))
        #expect(try await scene.api.delete("/v1/jobs/\(id)?files=delete").problem == .init(kind: "unknown-field"))
        #expect(try await scene.api.get("/v1/jobs/\(id)").status == 200)
    }
}
