import Formats
import Foundation
import TestKit
import Testing

/// Pause, resume, cancel, retry and delete during a download.
@Suite struct ActionTests {
    private let bytes = Content.random(seed: 11, count: 2_000_000)

    private func running<Service: TestedService>(
        on fetchd: Service
    ) async throws -> (id: String, fetchd: Service, origin: Origin) {
        let origin = try Origin()
        origin.serve("/f", .file(bytes), .stalling(after: 1_000_000).once)
        let id = try await fetchd.api.submit(["url": .string(origin.url("/f"))])
        try await fetchd.api.waitForBytes(id, atLeast: 1_000_000)
        return (id, fetchd, origin)
    }

    @Test func answersPauseWhenBytesAreDurable() async throws {
        let (id, fetchd, origin) = try await running(on: FetchdProcess.start())
        let paused = try await fetchd.api.post("/v1/jobs/\(id)/pause").json
        #expect(paused["state"] == "paused")
        #expect(paused["progress"]["bytes_durable"] == 1_000_000)
        // An answered pause is durable: no crash undoes it.
        try await fetchd.kill()
        try await fetchd.restart()
        #expect(try await fetchd.api.job(id)["state"] == "paused")
        #expect(try await fetchd.api.post("/v1/jobs/\(id)/pause").status == 200)
        #expect(try await fetchd.api.post("/v1/jobs/\(id)/resume").status == 200)
        let job = try await fetchd.api.waitForJob(id, .succeeded)
        #expect(job["resume"] == ["decision": "resumed", "why": nil, "offset": 1_000_000])
        #expect(origin.requests(to: "/f").last?.header("Range") == "bytes=1000000-")
        #expect(fetchd.downloaded("f") == bytes)
        let types = try await fetchd.api.events(of: id).map { $0["type"] }
        #expect(
            types == [
                "job.created", "job.started", "job.paused", "job.started", "job.resumed", "job.succeeded",
            ])
    }

    @Test func removesPartWhenCancelled() async throws {
        let (id, fetchd, origin) = try await running(on: LocalService.start())
        defer { origin.stop() }
        let cancelled = try await fetchd.api.post("/v1/jobs/\(id)/cancel").json
        #expect(cancelled["state"] == "cancelled")
        #expect(cancelled["progress"]["bytes_durable"] == 0)
        #expect(try await fetchd.partFilesAreRemoved())
        #expect(try await fetchd.api.post("/v1/jobs/\(id)/cancel").status == 200)
        #expect(try await fetchd.api.post("/v1/jobs/\(id)/pause").status == 409)
        #expect(try await fetchd.api.post("/v1/jobs/\(id)/retry").status == 200)
        try await fetchd.api.waitForJob(id, .succeeded)
        #expect(fetchd.downloaded("f") == bytes)
    }

    @Test func cancelsRunningJobBeforeDeletingIt() async throws {
        let (id, fetchd, origin) = try await running(on: LocalService.start())
        defer { origin.stop() }
        #expect(try await fetchd.api.delete("/v1/jobs/\(id)").status == 204)
        #expect(try await fetchd.api.get("/v1/jobs/\(id)").status == 404)
        #expect(try await fetchd.partFilesAreRemoved())
        let types = try await fetchd.api.events(of: id).map { $0["type"] }
        #expect(types == ["job.created", "job.started", "job.cancelled", "job.deleted"])
    }

    /// Whichever action comes first, the job ends in one state, and every response agrees with it.
    @Test func agreesOnOneStateWhenActionsRace() async throws {
        let (fetchd, origin) = (try await LocalService.start(), try Origin())
        for index in 0..<30 { origin.serve("/\(index)", .file(Content.random(seed: UInt64(index), count: 50_000))) }
        for index in 0..<30 {
            let id = try await fetchd.api.submit(["url": .string(origin.url("/\(index)"))])
            let api = fetchd.api
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for action in ["pause", "cancel", "pause", "resume", "cancel"] {
                    group.addTask { try await api.post("/v1/jobs/\(id)/\(action)").status }
                }
                return try await group.reduce(into: [Int]()) { $0.append($1) }
            }
            #expect(Set(statuses).isSubset(of: [200, 409]))
            let job = try await api.waitForJob(id, toBe: "over") { ["succeeded", "cancelled"].contains($0["state"]) }
            let ends = try await api.events(of: id).filter { ["job.succeeded", "job.cancelled"].contains($0["type"]) }
            #expect(ends.count == 1)
            #expect(ends.first?["type"] == .string("job.\(job["state"].string ?? "")"))
        }
    }

    @Test func renamesReplacesOrFailsOnDestinationConflict() async throws {
        let (fetchd, origin) = (try await LocalService.start(), try Origin())
        origin.serve("/f", .file(bytes))
        func download(_ conflict: String) async throws -> JSON {
            let id = try await fetchd.api.submit([
                "url": .string(origin.url("/f")),
                "destination": ["directory": "a/b", "filename": "n.bin", "on_conflict": .string(conflict)],
            ])
            return try await fetchd.api.waitForJob(id, toBe: "over") { ["succeeded", "failed"].contains($0["state"]) }
        }
        #expect(try await download("rename")["file"]["path"] == "a/b/n.bin")
        #expect(try await download("rename")["file"]["path"] == "a/b/n (1).bin")
        #expect(try await download("replace")["file"]["path"] == "a/b/n.bin")
        let refused = try await download("error")
        #expect(refused["failure"]["code"] == "destination_exists")
        // The part is complete: a retry asks the server for nothing.
        let requests = origin.requests(to: "/f").count
        let file = fetchd.folder.path("downloads/a/b/n.bin")
        try FileManager.default.removeItem(atPath: file)
        let id = try #require(refused["id"].string)
        _ = try await fetchd.api.post("/v1/jobs/\(id)/retry")
        try await fetchd.api.waitForJob(id, .succeeded)
        #expect(fetchd.downloaded("a/b/n.bin") == bytes)
        #expect(origin.requests(to: "/f").count == requests)
    }

    @Test func refusesSymbolicLinkInDestination() async throws {
        let (fetchd, origin) = (try await LocalService.start(), try Origin())
        origin.serve("/f", .file(bytes))
        let outside = try TemporaryFolder()
        try FileManager.default.createSymbolicLink(
            atPath: fetchd.folder.path("downloads/link"), withDestinationPath: outside.path)
        let id = try await fetchd.api.submit([
            "url": .string(origin.url("/f")), "destination": ["directory": "link"],
        ])
        let job = try await fetchd.api.waitForJob(id, toBe: "failed") { $0["state"] == "failed" }
        #expect(job["failure"]["code"] == "destination_invalid")
        #expect(outside.files.isEmpty)
    }
}
