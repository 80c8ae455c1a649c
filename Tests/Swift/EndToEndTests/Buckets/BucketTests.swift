import Formats
import Foundation
import TestKit
import Testing

/// `--location NAME=s3://…`: a file becomes an object when it is verified, and not before.
@Suite struct BucketTests {
    private let server: BucketServer
    private let scene: Scene
    private let large = Content.random(seed: 11, count: 20 << 20)

    init() async throws {
        server = try await BucketServer()
        scene = try await Scene(
            process: .init(
                arguments: ["--location", server.location("archive", prefix: "films")], environment: server.environment)
        )
        scene.origin.serve("/large", .file(large, contentType: "video/mp4"))
        scene.origin.serve("/empty", .file([]))
    }

    private var api: APIClient { scene.api }

    private func submit(_ path: String, _ conflict: String = "rename", _ members: (String, JSON)...) async throws
        -> String
    {
        let destination: JSON = ["location": "archive", "on_conflict": .string(conflict)]
        var order = scene.order(path, ("destination", destination)).objectValue ?? [:]
        for (name, value) in members { order[name] = value }
        return try await api.submit(.object(order))
    }

    private func sha256(_ bytes: [UInt8]) -> String { SHA.hexadecimal(of: bytes) }

    @Test(arguments: ["/file", "/large", "/empty"]) func aFileBecomesAnObject(_ path: String) async throws {
        let bytes = ["/file": scene.bytes, "/large": large][path] ?? []
        let id = try await submit(path)
        let file = try await api.waitForJob(id, .succeeded)["file"]
        let key = "films\(path)"
        let state = try await server.state()
        #expect(state.objects == [key: sha256(bytes)] && state.uploads.isEmpty)
        #expect(file["location"] == "archive" && file["path"].string == String(path.dropFirst()))
        #expect(file["url"].string == "\(server.endpoint)/archive/\(key)")
        #expect(file["etag"].string?.hasPrefix("\"") == true && file["version_id"].string?.count == 32)
        let type = state.headers[key]?["content-type"].string
        #expect(type == file["content_type"].string ?? "application/octet-stream")
        let whole = try await api.get("/v1/jobs/\(id)/file")
        #expect(whole.status == 200 && whole.body == bytes)
        #expect(whole.header("etag") == file["etag"].string && whole.header("accept-ranges") == "bytes")
        #expect(whole.header("content-disposition")?.contains(String(path.dropFirst())) == true)
        try await scene.process.stop()
        #expect(scene.process.folder.files.allSatisfy { !$0.contains("part_") })
    }

    @Test func anObjectIsReadInRangesAndOnConditions() async throws {
        let id = try await submit("/large")
        let tag = try await api.waitForJob(id, .succeeded)["file"]["etag"].string ?? ""
        let path = "/v1/jobs/\(id)/file"
        let part = try await api.get(path, headers: [("Range", "bytes=5-9")])
        #expect(part.status == 206 && part.body == Array(large[5...9]))
        #expect(part.header("content-range") == "bytes 5-9/\(large.count)")
        let same = try await api.get(path, headers: [("Range", "bytes=-3"), ("If-Range", tag)])
        #expect(same.status == 206 && same.body == Array(large.suffix(3)))
        let other = try await api.get(path, headers: [("Range", "bytes=-3"), ("If-Range", "\"other\"")])
        #expect(other.status == 200 && other.body.count == large.count)
        for wanted in ["bytes=0-1,5-6", "items=0-1", "bytes=9-5"] {
            #expect(try await api.get(path, headers: [("Range", wanted)]).body.count == large.count, "\(wanted)")
        }
        let known = try await api.get(path, headers: [("If-None-Match", tag)])
        #expect(known.status == 304 && known.body.isEmpty)
        let beyond = try await api.get(path, headers: [("Range", "bytes=\(large.count)-")])
        #expect(beyond.status == 416 && beyond.header("content-range") == "bytes */\(large.count)")
        let head = try await api.send("HEAD", path)
        #expect(head.status == 200 && head.header("content-length") == "\(large.count)" && head.body.isEmpty)
        let redirect = try await api.get("\(path)?redirect=true")
        let url = redirect.header("location") ?? ""
        #expect(redirect.status == 307 && url.hasPrefix("\(server.endpoint)/archive/films/large?"))
        let direct = APIClient(baseURL: url, isRecorded: false)
        #expect(try await direct.get("").body == large)
        #expect(!scene.process.log.contains("X-Amz-Signature"))
        let folder = try await api.waitForJob(try await api.submit(scene.order()), .succeeded)["id"].string ?? ""
        #expect(try await api.get("/v1/jobs/\(folder)/file?redirect=true").status == 422)
        // Another object has the key.
        try await server.put("films/large", [1, 2, 3])
        #expect(try await api.get(path).status == 410)
        #expect(try await api.delete("/v1/jobs/\(id)?file=delete").status == 204)
        #expect(try await server.state().objects["films/large"] == sha256([1, 2, 3]))
    }

    @Test func aDeletedFileIsRemovedFromTheBucket() async throws {
        var ids: [String] = []
        for path in ["/file", "/large", "/empty"] {
            ids.append(try await submit(path))
            _ = try await api.waitForJob(ids.last ?? "", .succeeded)
        }
        #expect(try await api.delete("/v1/jobs/\(ids[0])?file=delete").status == 204)
        #expect(try await server.state().objects.keys.sorted() == ["films/empty", "films/large"])
        #expect(try await api.delete("/v1/jobs/\(ids[1])").status == 204)
        let removal: JSON = ["ids": [.string(ids[2])], "file": "delete"]
        #expect(try await api.post("/v1/jobs/remove", removal).json["changed"] == 1)
        #expect(try await server.state().objects.keys.sorted() == ["films/large"])
    }

    @Test func aBucketThatFailsKeepsTheJobWhoseFileIsToBeDeleted() async throws {
        let id = try await submit("/file")
        _ = try await api.waitForJob(id, .succeeded)
        try await server.set(.init("forbid", 0))
        #expect(try await api.delete("/v1/jobs/\(id)?file=delete").status == 503)
        #expect(try await api.get("/v1/jobs/\(id)/file").status == 503)
        try await server.set()
        #expect(try await api.delete("/v1/jobs/\(id)?file=delete").status == 204)
        #expect(try await server.state().objects.isEmpty)
    }

    @Test func anObjectOfAnotherIsReplacedOnlyOnRequest() async throws {
        for path in ["/file", "/large"] {
            try await server.put("films\(path)", [7])
            let refused = try await api.waitForJob(try await submit(path, "error"), .failed)
            #expect(refused["failure"]["code"] == "destination_exists")
            #expect(try await server.state().objects["films\(path)"] == sha256([7]))
            let renamed = try await api.waitForJob(try await submit(path, "rename"), .succeeded)
            #expect(renamed["file"]["path"].string == "\(path.dropFirst()) (1)")
            #expect(try await server.state().objects["films\(path)"] == sha256([7]))
            _ = try await api.waitForJob(try await submit(path, "replace"), .succeeded)
            #expect(try await server.state().objects["films\(path)"] != sha256([7]))
            #expect(try await server.state().uploads.isEmpty)
        }
    }

    @Test(arguments: ["/file", "/large"], ["error", "rename"])
    func aRacingWriterIsNeverOverwritten(_ path: String, _ conflict: String) async throws {
        // The first job finds out what the bucket makes of conditions.
        _ = try await api.waitForJob(try await submit("/empty"), .succeeded)
        try await server.set(.init("freeze-before", 1, path == "/file" ? "PutObject" : "CompleteMultipartUpload"))
        let id = try await submit(path, conflict)
        _ = try await eventually("the request") { try await server.state().frozen == 1 ? true : nil }
        try await server.put("films\(path)", [9])
        try await server.set()
        let job = try await api.waitForJob(id, conflict == "error" ? .failed : .succeeded)
        let state = try await server.state()
        #expect(state.objects["films\(path)"] == sha256([9]))
        if conflict == "error" {
            #expect(job["failure"]["code"] == "destination_exists")
            _ = try await eventually("the end of its upload") { try await server.state().uploads.isEmpty ? true : nil }
        } else {
            #expect(job["file"]["path"].string == "\(path.dropFirst()) (1)")
            #expect(state.objects["films\(path) (1)"] == sha256(path == "/file" ? scene.bytes : large))
        }
    }

    @Test func aBucketThatIgnoresConditionsTakesReplacementsOnly() async throws {
        // It finds that out once.
        try await scene.process.stop()
        try await server.keepConditions(false)
        try await scene.process.restart()
        let replacing = try await api.waitForJob(try await submit("/file", "replace"), .succeeded)
        #expect(replacing["file"]["path"] == "file")
        for (path, conflict) in [("/empty", "error"), ("/large", "rename")] {
            let refused = try await api.waitForJob(try await submit(path, conflict), .failed)
            #expect(refused["failure"]["code"] == "storage_error")
            #expect(refused["failure"]["message"].string?.contains("If-None-Match") == true)
        }
        #expect(try await server.state().created == ["films/file"])
        let locations = try await api.get("/v1/locations").json["locations"].arrayValue ?? []
        let archive = locations.first { $0["name"] == "archive" } ?? .null
        #expect(archive["healthy"] == true && archive["why"].string?.contains("If-None-Match") == true)
        #expect(archive["kind"] == "s3" && archive["free_bytes"] == .null)
        #expect(archive["bucket"] == "s3://archive/films/" && archive["endpoint"].string == server.endpoint)
    }

    @Test func wrongBytesAreNeverAnObject() async throws {
        let checksum: JSON = ["algorithm": "sha-256", "value": .string(String(repeating: "0", count: 64))]
        for path in ["/file", "/large"] {
            let job = try await api.waitForJob(try await submit(path, "rename", ("checksum", checksum)), .failed)
            #expect(job["failure"]["code"] == "checksum_mismatch")
        }
        let state = try await server.state()
        #expect(state.created.isEmpty && state.uploads.isEmpty && !state.log.contains("UploadPart"))
    }
}
