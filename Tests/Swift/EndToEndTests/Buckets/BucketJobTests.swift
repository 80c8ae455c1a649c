import Formats
import Foundation
import TestKit
import Testing

/// What a job can go through, with a bucket as its location: at the strict server, and at moto.
@Suite(.enabled("scripts/setup has set up .venv") { await Project.hasPythonPackage("moto.server") })
struct BucketJobTests {
    private static let servers: [BucketServer.Kind] = [.strict, .moto]

    private func scene(at server: BucketServer) async throws -> Scene {
        let scene = try await Scene(
            process: .init(
                arguments: ["--location", server.location("archive", prefix: "a b/ö")], environment: server.environment)
        )
        try await scene.api.declareSession(
            "archive", ["destination": ["location": "archive"], "retry": ["base_seconds": 0.1]])
        return scene
    }

    private func order(_ scene: Scene, _ path: String, _ members: (String, JSON)...) -> JSON {
        var order: JSONObject = ["url": .string(scene.origin.url(path)), "session": "archive"]
        for (name, value) in members { order[name] = value }
        return .object(order)
    }

    private func expect(_ bytes: [UInt8], of id: String, _ scene: Scene) async throws -> JSON {
        let job = try await scene.api.waitForJob(id, .succeeded)
        #expect(job["file"]["location"] == "archive" && job["file"]["sha256"].string == SHA.hexadecimal(of: bytes))
        #expect(try await scene.api.get("/v1/jobs/\(id)/file").body == bytes)
        return job
    }

    @Test(arguments: servers) func aTransferIsResumedAndDivided(_ kind: BucketServer.Kind) async throws {
        let server = try await BucketServer(kind)
        let (scene, bytes) = (try await scene(at: server), Content.random(seed: 21, count: 12 << 20))
        scene.origin.serve("/broken", .file(bytes), .closing(after: 5 << 20))
        let broken = try await scene.api.submit(order(scene, "/broken"))
        #expect(try await expect(bytes, of: broken, scene)["resume"]["decision"] == "resumed")
        scene.origin.serve("/divided", .file(bytes))
        let divided = try await scene.api.submit(order(scene, "/divided", ("connections", 4)))
        _ = try await expect(bytes, of: divided, scene)
        scene.origin.serve("/mirror", .file(bytes))
        let urls: JSON = [.string(scene.origin.url("/missing")), .string(scene.origin.url("/mirror"))]
        var mirrored = order(scene, "/mirror").objectValue ?? [:]
        mirrored["url"] = nil
        mirrored["urls"] = urls
        _ = try await expect(bytes, of: try await scene.api.submit(.object(mirrored)), scene)
    }

    @Test(arguments: servers) func aJobIsRetriedCancelledMovedAndRemoved(_ kind: BucketServer.Kind) async throws {
        let server = try await BucketServer(kind)
        let scene = try await scene(at: server)
        let api = scene.api
        let failed = try await api.submit(order(scene, "/missing"))
        _ = try await api.waitForJob(failed, .failed)
        scene.origin.serve("/missing", .file(scene.bytes))
        _ = try await api.post("/v1/jobs/\(failed)/retry")
        _ = try await expect(scene.bytes, of: failed, scene)
        let held = try await api.submit(order(scene, "/held"))
        _ = try await api.waitForBytes(held)
        // It begins in the bucket, and ends in the downloads folder.
        #expect(try await api.post("/v1/jobs/\(held)/pause").status == 200)
        _ = try await api.waitForJob(held, .paused)
        _ = try await api.send("PATCH", "/v1/jobs/\(held)", ["destination": ["location": "default"]])
        scene.gate.open()
        _ = try await api.post("/v1/jobs/\(held)/resume")
        #expect(try await api.waitForJob(held, .succeeded)["file"]["location"] == "default")
        let cancelled = try await api.submit(order(scene, "/file", ("state", "paused")))
        _ = try await api.post("/v1/jobs/\(cancelled)/cancel")
        #expect(try await api.waitForJob(cancelled, .cancelled)["file"] == .null)
        #expect(try await api.delete("/v1/jobs/\(failed)?file=delete").status == 204)
        let again = try await api.submit(order(scene, "/missing", ("destination", ["on_conflict": "error"])))
        _ = try await expect(scene.bytes, of: again, scene)
    }

    @Test(arguments: servers) func theConflictRulesHold(_ kind: BucketServer.Kind) async throws {
        let server = try await BucketServer(kind)
        let scene = try await scene(at: server)
        let bytes = Content.random(seed: 22, count: 9 << 20)
        for (path, bytes) in [("/file", scene.bytes), ("/large", bytes)] {
            scene.origin.serve(path, .file(bytes))
            for (conflict, name) in [("error", path), ("rename", "\(path) (1)"), ("replace", path)] {
                let id = try await scene.api.submit(
                    order(scene, path, ("destination", ["on_conflict": .string(conflict)])))
                #expect(try await expect(bytes, of: id, scene)["file"]["path"].string == String(name.dropFirst()))
            }
            let id = try await scene.api.submit(order(scene, path, ("destination", ["on_conflict": "error"])))
            #expect(try await scene.api.waitForJob(id, .failed)["failure"]["code"] == "destination_exists")
        }
    }
}
