import Formats
import Foundation
import TestKit
import Testing

/// Where a file is placed: its name is chosen when the response arrives, and conflicts are checked when the file is
/// complete.
@Suite struct DestinationTests {
    private static let disposition = (name: "Content-Disposition", value: #"attachment; filename="Holiday 1.mp4""#)

    private func download(_ scene: Scene, _ path: String, _ members: (String, JSON)...)
        async throws -> JSON
    {
        var order: JSONObject = ["url": .string(scene.origin.url(path))]
        for (name, value) in members { order[name] = value }
        return try await scene.api.waitForJob(scene.api.submit(.object(order)), .succeeded)
    }

    @Test func choosesFilenameWhenResponseArrives() async throws {
        let scene = try await Scene()
        scene.origin.serve("/f", .file(scene.bytes, headers: [Self.disposition]), .waitingBeforeHead(for: scene.gate))
        let id = try await scene.api.submit(scene.order("/f"))
        await scene.gate.reached()
        let job = try await scene.api.job(id)
        #expect(job["file"] == .null)
        #expect(
            job["destination"]
                == [
                    "location": nil, "directory": nil, "filename": nil, "on_conflict": nil, "create_directories": true,
                    "staging": nil,
                ])
        scene.gate.open()
        #expect(try await scene.api.waitForJob(id, .succeeded)["file"]["path"] == "Holiday 1.mp4")
        #expect(scene.fetchd.downloaded("Holiday 1.mp4") == scene.bytes)
    }

    @Test func expandsEveryFilenameTemplate() async throws {
        let scene = try await Scene()
        scene.origin.serve("/a/clip.tar.gz", .file(scene.bytes, headers: [Self.disposition]))
        scene.origin.serve("/plain", .file(scene.bytes))
        let templates = [
            ("{suggested_filename}", "Holiday 1.mp4"), ("new-{suggested_filename}", "new-Holiday 1.mp4"),
            ("{url_basename}", "clip.tar.gz"), ("film.{extension}", "film.mp4"), ("{host}-film", "127.0.0.1-film"),
            ("{url_basename}-{extension}-{host}", "clip.tar.gz-mp4-127.0.0.1"),
        ]
        for (template, name) in templates {
            let job = try await download(
                scene, "/a/clip.tar.gz?signature=1", ("destination", ["directory": "t", "filename": .string(template)]))
            #expect(job["file"]["path"].string == "t/\(name)", "\(template)")
            #expect(job["destination"]["filename"].string == template)
        }
        // The only suggested name is the URL's, without an extension.
        let bare = try await download(
            scene, "/plain", ("destination", ["filename": "{suggested_filename}-{extension}x"]))
        #expect(bare["file"]["path"] == "plain-x")
        let job = try await download(scene, "/plain", ("destination", ["filename": "{job_id}.bin"]))
        #expect(job["file"]["path"].string == "\(job["id"].string ?? "").bin")
    }

    /// Browsers and `curl -OJ` name the file after the last URL, too.
    @Test func namesFileAfterLastURLOfRedirects() async throws {
        let scene = try await Scene()
        scene.origin.serve("/latest", .redirect(to: "/v2/clip%20two.tar.gz?signature=1"))
        scene.origin.serve("/v2/clip%20two.tar.gz", .file(scene.bytes))
        scene.origin.serve("/named", .redirect(to: "/titled"))
        scene.origin.serve("/titled", .file(scene.bytes, headers: [Self.disposition]))
        #expect(try await download(scene, "/latest")["file"]["path"] == "clip two.tar.gz")
        #expect(try await download(scene, "/named")["file"]["path"] == "Holiday 1.mp4")
        let template: JSON = ["filename": "{url_basename}-{extension}"]
        let job = try await download(scene, "/latest", ("destination", template))
        #expect(job["file"]["path"] == "latest-gz")
    }

    @Test func failsBeforeTransferIfFolderIsAFile() async throws {
        let scene = try await Scene()
        try scene.fetchd.folder.write("a file", to: "downloads/taken")
        let id = try await scene.api.submit(scene.order("/file", ("destination", ["directory": "taken/inner"])))
        let job = try await scene.api.waitForJob(id, .failed)
        #expect(job["failure"]["code"] == "destination_invalid")
        #expect(scene.origin.requests.isEmpty)
    }

    /// Dates are in UTC, and those of the moment at which the name is chosen.
    @Test func expandsDateTemplatesInUTC() async throws {
        let scene = try await Scene()
        func digits(_ time: JSON) -> String { String((time.string ?? "").filter(\.isNumber).prefix(14)) }
        let job = try await download(scene, "/file", ("destination", ["filename": "{date}-{datetime}"]))
        let pieces = try #require(job["file"]["path"].string).split(separator: "-").map(String.init)
        #expect(pieces.map(\.count) == [8, 14])
        #expect(pieces[1].hasPrefix(pieces[0]))
        #expect((digits(job["started_at"])...digits(job["finished_at"])).contains(pieces[1]))
    }

    @Test(arguments: [
        ("/", "download"), ("/folder/", "download"), ("/a%20b%C3%BC.txt", "a bü.txt"), ("/x?name=y.txt", "x"),
        ("/%2e%2e", "download"), ("/a%2Fb.txt", "b.txt"),
    ])
    func namesFileAfterURLWithoutContentDisposition(_ path: String, _ name: String) async throws {
        let scene = try await Scene()
        scene.origin.serve(String(path.prefix { $0 != "?" }), .file(scene.bytes))
        #expect(try await download(scene, path)["file"]["path"].string == name)
    }

    @Test func takesDestinationDefaultsFromSession() async throws {
        let scene = try await Scene()
        try await scene.api.declareSession("films", ["directory": "films/new", "on_conflict": "error"])
        func path(_ destination: JSON) async throws -> String? {
            try await download(scene, "/file", ("session", "films"), ("destination", destination))["file"]["path"]
                .string
        }
        #expect(try await path(nil) == "films/new/file")
        #expect(try await path(["filename": "f"]) == "films/new/f")
        #expect(try await path(["directory": "old"]) == "old/file")
        #expect(try await path(["directory": ""]) == "file")
        #expect(try await path(["on_conflict": "rename"]) == "films/new/file (1)")
        let id = try await scene.api.submit(scene.order("/file", ("session", "films")))
        #expect(try await scene.api.waitForJob(id, .failed)["failure"]["code"] == "destination_exists")
    }
}

// MARK: - Conflicts

extension DestinationTests {
    /// One path is occupied at POST and free at promotion, the other the other way round: only promotion counts.
    @Test func checksConflictWhenFileIsComplete() async throws {
        let scene = try await Scene()
        try scene.fetchd.folder.write("before", to: "downloads/taken")
        let destination: (String) -> JSON = { ["filename": .string($0), "on_conflict": "error"] }
        let taken = try await scene.heldJob(("destination", destination("taken")))
        let free = try await scene.heldJob(("destination", destination("free")))
        try FileManager.default.removeItem(atPath: scene.fetchd.folder.path("downloads/taken"))
        try scene.fetchd.folder.write("meanwhile", to: "downloads/free")
        scene.gate.open()
        #expect(try await scene.api.waitForJob(taken, .succeeded)["file"]["path"] == "taken")
        let failed = try await scene.api.waitForJob(free, .failed)
        #expect(failed["failure"]["code"] == "destination_exists")
        #expect(scene.fetchd.downloaded("free") == Array("meanwhile".utf8))
        // The part is complete: a retry with another name asks the server for nothing.
        try await scene.expectStoredParts([200_000])
        try await scene.api.change(free, ["destination": ["on_conflict": "rename"]])
        try await scene.api.act(.retry, on: free)
        #expect(try await scene.api.waitForJob(free, .succeeded)["file"]["path"] == "free (1)")
        #expect(scene.fetchd.downloaded("free (1)") == scene.bytes)
        #expect(scene.origin.requests(to: "/held").allSatisfy { $0.header("Range") == nil })
        let receipt = try await scene.api.job(free)["receipt"]
        #expect(receipt["status"] == 416 && receipt["protocol"] == "" && receipt["remote_address"] == .null)
    }

    @Test func keepsExtensionWhenRenamingOnConflict() async throws {
        let scene = try await Scene()
        for (name, second) in [("a.mp4", "a (1).mp4"), ("b", "b (1)"), ("c.tar.gz", "c.tar (1).gz")] {
            try scene.fetchd.folder.write("before", to: "downloads/\(name)")
            let job = try await download(scene, "/file", ("destination", ["filename": .string(name)]))
            #expect(job["file"]["path"].string == second)
            #expect(scene.fetchd.downloaded(name) == Array("before".utf8))
        }
    }

    @Test func givesTwentyJobsWithSameFilenameDistinctFiles() async throws {
        let scene = try await Scene(.init { $0.start.values.maxConnectionsPerHost = 20 })
        for index in 0..<20 { scene.origin.serve("/\(index)", .file([UInt8(index)])) }
        let orders = (0..<20).map { scene.order("/\($0)", ("destination", ["filename": "same.bin"])) }
        var paths: Set<String> = []
        for (index, id) in try await scene.api.submit(all: orders).enumerated() {
            let path = try #require(try await scene.api.waitForJob(id, .succeeded)["file"]["path"].string)
            #expect(scene.fetchd.downloaded(path) == [UInt8(index)])
            paths.insert(path)
        }
        #expect(paths == Set(["same.bin"] + (1...19).map { "same (\($0)).bin" }))
    }

    @Test func replacesExistingFileButNotDirectory() async throws {
        let scene = try await Scene()
        try scene.fetchd.folder.write("before", to: "downloads/f.bin")
        let destination: JSON = ["filename": "f.bin", "on_conflict": "replace"]
        #expect(try await download(scene, "/file", ("destination", destination))["file"]["path"] == "f.bin")
        #expect(scene.fetchd.downloaded("f.bin") == scene.bytes)
        // A directory is never replaced.
        try scene.fetchd.folder.write("within", to: "downloads/folder/file")
        let id = try await scene.api.submit(
            scene.order("/file", ("destination", ["filename": "folder", "on_conflict": "replace"])))
        #expect(try await scene.api.waitForJob(id, .failed)["failure"]["code"] == "destination_invalid")
        #expect(scene.fetchd.downloaded("folder/file") == Array("within".utf8))
    }

    @Test func createsMissingDirectoriesUnlessDisabled() async throws {
        let scene = try await Scene()
        let made = try await download(scene, "/file", ("destination", ["directory": "a/b/c"]))
        #expect(made["file"]["path"] == "a/b/c/file")
        let strict: JSON = ["directory": "x/y", "create_directories": false]
        let id = try await scene.api.submit(scene.order("/file", ("destination", strict)))
        let failed = try await scene.api.waitForJob(id, .failed)
        #expect(failed["failure"]["code"] == "destination_invalid")
        #expect(!FileManager.default.fileExists(atPath: scene.fetchd.folder.path("downloads/x")))
        // A file cannot be used as a directory.
        let through = try await scene.api.submit(scene.order("/file", ("destination", ["directory": "a/b/c/file"])))
        #expect(try await scene.api.waitForJob(through, .failed)["failure"]["code"] == "destination_invalid")
        // The directory is created; the retry needs no further bytes.
        try FileManager.default.createDirectory(
            atPath: scene.fetchd.folder.path("downloads/x/y"), withIntermediateDirectories: true)
        try await scene.api.act(.retry, on: id)
        #expect(try await scene.api.waitForJob(id, .succeeded)["file"]["path"] == "x/y/file")
    }

    /// The response to a retry of a complete part names no file: the name from the first response is used.
    @Test func remembersServerFilenameForRetry() async throws {
        let scene = try await Scene()
        scene.origin.serve("/f", .file(scene.bytes, contentType: "video/mp4", headers: [Self.disposition]))
        try scene.fetchd.folder.write("before", to: "downloads/Holiday 1.mp4")
        let id = try await scene.api.submit(scene.order("/f", ("destination", ["on_conflict": "error"])))
        try await scene.api.waitForJob(id, .failed)
        try FileManager.default.removeItem(atPath: scene.fetchd.folder.path("downloads/Holiday 1.mp4"))
        try await scene.api.act(.retry, on: id)
        let job = try await scene.api.waitForJob(id, .succeeded)
        #expect(job["file"]["path"] == "Holiday 1.mp4")
        #expect(job["file"]["content_type"] == "video/mp4")
        #expect(job["receipt"]["etag"] == "\"v1\"")
    }
}
