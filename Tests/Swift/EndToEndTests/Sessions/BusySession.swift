import TestKit
import Testing

/// A session in the middle of its work, for tests that delete it: one job has failed, one is running and held. Its
/// batch would finish an hour after its last job.
struct BusySession {
    let scene: Scene
    let failed: String
    let held: String
    let path = "/v1/sessions/films"

    var api: APIClient { scene.api }

    init(_ options: LocalService.Options = .init()) async throws { try await self.init(in: Scene(options)) }

    init(process options: FetchdProcess.Options) async throws { try await self.init(in: Scene(process: options)) }

    private init(in scene: Scene) async throws {
        self.scene = scene
        scene.holdResumedDownloads()
        try await scene.api.declareSession("films", ["finish_delay_seconds": 3600, "directory": "films"])
        failed = try await scene.api.submit(scene.order("/missing", ("session", "films")))
        held = try await scene.api.submit(scene.order("/held", ("session", "films")))
        try await scene.api.waitForJob(failed, .failed)
        try await scene.api.waitForBytes(held)
    }

    /// Checks that the session refuses new jobs, alone and in a batch, and retries.
    func expectNothingNewIsTaken() async throws {
        let created = try await api.journal(of: "films", type: "job.created")
        let order = scene.order("/file", ("session", "films"))
        let one = try await api.post("/v1/jobs", order)
        #expect(one.status == 409)
        #expect(one.problem == .init(kind: "session-finishing", pointer: "/session"))
        let many = try await api.post("/v1/jobs/batch", ["jobs": [scene.order(), order]])
        #expect(many.status == 409)
        #expect(many.problem == .init(kind: "session-finishing", pointer: "/jobs/1/session"))
        let retry = try await api.post("/v1/jobs/\(failed)/retry")
        #expect(retry.status == 409)
        #expect(retry.problem?.kind == "session-finishing")
        #expect(try await api.job(failed)["state"] == "failed")
        #expect(try await api.journal(of: "films", type: "job.created") == created)
        #expect(try await api.get("/v1/jobs?session=default").json["jobs"] == [])
    }
}
