import Formats
import Foundation
import TestKit
import Testing

/// `--location`: jobs and sessions say where their files go, and a location that does not work delays only its jobs.
@Suite struct LocationTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func options(_ locations: [String], token: String? = nil, _ further: [String] = []) -> FetchdProcess.Options
    {
        .init(arguments: locations.flatMap { ["--location", $0] } + further, token: token)
    }

    private var films: String { "films=\(folder.path("films"))" }

    private func destination(_ location: JSON) -> (String, JSON) { ("destination", ["location": location]) }

    private func locations(_ api: APIClient) async throws -> [String: JSON] {
        let list = try await api.get("/v1/locations").json["locations"].arrayValue ?? []
        return list.reduce(into: [:]) { $0[$1["name"].string ?? ""] = $1 }
    }

    @Test func aFileGoesWhereItsJobOrItsSessionSays() async throws {
        let scene = try await Scene(process: options([films]), in: folder)
        let api = scene.api
        try await api.declareSession("cinema", ["destination": ["location": "films"], "directory": "new"])
        let orders = [
            scene.order("/file", destination("films")), scene.order("/file", ("session", "cinema")),
            scene.order("/file", ("session", "cinema"), destination("default")), scene.order("/file"),
        ]
        var files: [String] = []
        for order in orders {
            let job = try await api.waitForJob(try await api.submit(order), .succeeded)
            let (place, path) = (job["file"]["location"].string ?? "", job["file"]["path"].string ?? "")
            files.append("\(place)/\(path)")
            #expect(folder.bytes(of: "\(place == "films" ? "films" : "downloads")/\(path)") == scene.bytes)
            let id = job["id"].string ?? ""
            #expect(try await api.get("/v1/jobs/\(id)/file").body.count == scene.bytes.count)
        }
        #expect(files == ["films/file", "films/new/file", "default/new/file", "default/file"])
        for (location, count) in [("films", 1), ("default", 1), ("elsewhere", 0)] {
            let list = try await api.get("/v1/sessions/cinema/manifest?location=\(location)").text
            #expect(list.split(separator: "\n").count == count, "\(list)")
        }
        #expect(try await api.session("cinema")["configuration"]["destination"]["location"] == "films")
        let known = try await locations(api)
        #expect(known.keys.sorted() == ["default", "films"])
        #expect(known.values.allSatisfy { $0["healthy"] == true && $0["waiting"] == 0 && $0["why"] == .null })
        #expect(known["films"]?["path"].string == folder.path("films"))
        #expect((known["films"]?["free_bytes"].integerValue ?? 0) > 0)
    }

    @Test func refusesALocationThatIsNotDeclared() async throws {
        let scene = try await Scene(process: options([films]), in: folder)
        let api = scene.api
        let order = scene.order("/file", destination("nowhere"))
        let answers = [
            try await api.post("/v1/jobs", order),
            try await api.post("/v1/jobs/batch", ["jobs": [scene.order(), order]]),
            try await api.put("/v1/sessions/new", ["destination": ["location": "nowhere"]]),
            try await api.send("PATCH", "/v1/sessions/default", ["destination": ["location": "nowhere"]]),
        ]
        let pointer = "/destination/location"
        #expect(answers.map(\.status) == [422, 422, 422, 422])
        #expect(answers.map { $0.json["pointer"].string } == [pointer, "/jobs/1\(pointer)", pointer, pointer])
        #expect(try await api.get("/v1/sessions/new").status == 404)
        let id = try await api.submit(scene.order("/file", ("state", "paused")))
        let patch: JSON = ["destination": ["location": "nowhere"]]
        #expect(try await api.send("PATCH", "/v1/jobs/\(id)", patch).json["pointer"].string == pointer)
        let moved = try await api.send("PATCH", "/v1/jobs/\(id)", ["destination": ["location": "films"]])
        #expect(moved.status == 200 && moved.json["destination"]["location"] == "films")
        let malformed = try await api.post("/v1/jobs", scene.order("/file", destination("a/b")))
        #expect(malformed.status == 422 && malformed.json["pointer"].string == pointer)
    }

    @Test func aCommandForAnEventGetsThePathInItsLocation() async throws {
        let scene = try await Scene(process: options([films]), in: folder)
        try await scene.api.waitForJob(
            try await scene.api.submit(scene.order("/file", destination("films"))), .succeeded)
        let arguments = [
            "hooks", "run", "--name", "index", "--on", "job.succeeded", "--from", "0", "--location", "films=/srv/films",
            "--url", scene.fetchd.baseURL, "--", "sh", "-c", "echo $FETCHD_FILE_LOCATION $FETCHD_PATH",
        ]
        let runner = try await ChildProcess(FetchdProcess.program, arguments)
        _ = try await eventually("the command to run") {
            runner.output.contains("films /srv/films/file\n") ? true : nil
        }
        runner.signal(SIGTERM)
        _ = try await runner.waitForEnd()
    }

    @Test func aFileIsDeletedFromItsLocation() async throws {
        let scene = try await Scene(process: options([films]), in: folder)
        var ids: [String] = []
        for _ in 0..<2 {
            ids.append(try await scene.api.submit(scene.order("/file", destination("films"))))
            try await scene.api.waitForJob(ids[ids.count - 1], .succeeded)
        }
        #expect(try await scene.api.delete("/v1/jobs/\(ids[0])?file=delete").status == 204)
        #expect(folder.files.filter { $0.hasPrefix("films/") } == ["films/file (1)"])
        try await scene.process.stop()
        let second = try await FetchdProcess.start(.init(), in: folder)
        #expect(try await second.api.get("/v1/jobs/\(ids[1])/file").status == 410)
        let answer = try await second.api.delete("/v1/jobs/\(ids[1])?file=delete")
        #expect(answer.problem?.kind == "state-conflict", "\(answer)")
        let why = "The file is in the location films, which no option declares."
        #expect(answer.json["detail"].string?.hasPrefix(why) == true)
        #expect(try await second.api.delete("/v1/jobs/\(ids[1])").status == 204)
        #expect(folder.files.filter { $0.hasPrefix("films/") } == ["films/file (1)"])
    }

    /// A running download continues in its new location with the bytes that it has.
    @Test func aRunningDownloadMoves() async throws {
        let scene = try await Scene(process: options([films]), in: folder)
        let id = try await scene.api.submit(scene.order("/held"))
        try await scene.api.waitForBytes(id, atLeast: 100_000)
        let patch = try await scene.api.send("PATCH", "/v1/jobs/\(id)", ["destination": ["location": "films"]])
        #expect(patch.status == 200)
        scene.gate.open()
        let job = try await scene.api.waitForJob(id, .succeeded)
        #expect(job["file"]["location"] == "films")
        #expect(folder.bytes(of: "films/\(job["file"]["path"].string ?? "")") == scene.bytes)
        #expect(folder.files.allSatisfy { !$0.hasSuffix(".part") })
    }

    @Test func aTokenCanBeBoundToLocations() async throws {
        let scene = try await Scene(process: options([films], token: "first"), in: folder)
        let api = scene.api
        try await api.declareSession("cinema", ["destination": ["location": "films"]])
        let token = try await api.createToken("sessions", ("locations", ["films"]))
        #expect(token["locations"] == ["films"])
        let bound = api.with(token: token["token"].string)
        #expect(try await locations(bound).keys.sorted() == ["films"])
        #expect(try await locations(bound)["films"]?["path"] == .null)
        #expect(try await bound.get("/v1/sign-in").json["locations"] == ["films"])
        let refused = [
            try await bound.post("/v1/jobs", scene.order()),
            try await bound.post("/v1/jobs", scene.order("/file", destination("default"))),
            try await bound.post("/v1/jobs/batch", ["jobs": [scene.order()]]),
            try await bound.put("/v1/sessions/own", ["directory": "a"]),
            try await bound.send("PATCH", "/v1/sessions/cinema", ["destination": .null]),
        ]
        #expect(refused.map(\.status) == [403, 403, 403, 403, 403])
        #expect(refused[0].json["pointer"] == "/destination/location")
        #expect(refused[2].json["pointer"] == "/jobs/0/destination/location")
        let ids = [
            try await bound.submit(scene.order("/file", destination("films"))),
            try await bound.submit(scene.order("/held", ("session", "cinema"))),
        ]
        let patch = try await bound.send("PATCH", "/v1/jobs/\(ids[1])", ["destination": ["location": "default"]])
        #expect(patch.status == 403)
        #expect(try await bound.put("/v1/sessions/own", ["destination": ["location": "films"]]).status == 201)
        scene.gate.open()
        for id in ids { try await bound.waitForJob(id, .succeeded) }
        let admin = try await api.post("/v1/tokens", ["scope": "admin", "locations": ["films"]])
        #expect(admin.status == 422 && admin.json["pointer"] == "/locations")
    }

    /// The service starts, names the location, and continues when it is declared again.
    @Test func jobsWaitForALocationThatIsNoLongerDeclared() async throws {
        let first = try await Scene(process: options([films]), in: folder)
        let id = try await first.api.submit(first.order("/held", destination("films")))
        try await first.api.waitForBytes(id, atLeast: 100_000, durable: true)
        try await first.process.kill()
        let second = try await FetchdProcess.start(.init(), in: folder)
        let job = try await second.api.waitForJob(id, .waiting)
        #expect(job["reason"] == "storage")
        #expect(job["cause"]["message"] == "Could not use the location films: no option declares it.")
        _ = try await eventually("the log to name the location") {
            second.log.contains("Jobs need the location films, which no option declares.") ? true : nil
        }
        try await second.stop()
        let report = try await FetchdProcess.run([
            "doctor", "--data-dir", folder.path("data"), "--downloads-dir", folder.path("downloads"),
        ])
        #expect(report.output.contains("Jobs need the location films, which no option declares."), "\(report.output)")
        first.gate.open()
        let third = try await FetchdProcess.start(options([films]), in: folder)
        let ended = try await third.api.waitForJob(id, .succeeded)
        #expect(ended["resume"]["decision"] == "resumed" && ended["file"]["location"] == "films")
    }

    /// An empty folder in the place of one that was used is the mount point of a missing disk.
    @Test func nothingIsWrittenToAnEmptyMountPoint() async throws {
        let first = try await FetchdProcess.start(options([films]), in: folder)
        try await first.stop()
        let (path, away) = (folder.path("films"), folder.path("films-away"))
        try FileManager.default.moveItem(atPath: path, toPath: away)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        let scene = try await Scene(process: options([films]), in: folder)
        let id = try await scene.api.submit(scene.order("/file", destination("films")))
        try await scene.api.waitForJob(id, .waiting)
        let films = try #require(try await locations(scene.api)["films"])
        #expect(films["healthy"] == false && films["waiting"] == 1 && films["free_bytes"] == .null)
        #expect(films["why"].string?.contains("the disk may not be mounted") == true)
        #expect(folder.files.allSatisfy { !$0.hasPrefix("films/") })
        let other = try await scene.api.submit(scene.order())
        try await scene.api.waitForJob(other, .succeeded)
        #expect(try await scene.api.get("/readyz").status == 200)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: away, toPath: path)
        try await scene.api.waitForJob(id, .succeeded)
        #expect(try await locations(scene.api)["films"]?["healthy"] == true)
    }

    @Test(arguments: [
        ("films", "has no '='"), ("default=/a", "is for the downloads folder"), ("a b=/a", "has no name of 1 to 128"),
        ("films=", "has an empty path"),
        ("films=ftp://host/a", "a location is a folder of this machine, or an s3:// bucket"),
        ("films=/a?color=red", "the parameters of a folder are incomplete"),
        ("films=/a?incomplete=/a/parts", "has the incomplete folder /a/parts below /a"),
        ("films=/a?minimum_free_bytes=x", "takes bytes"), ("films=/a?file_mode=9", "octal"),
        ("films=~other/a", "only the home folder of its own user"),
    ])
    func refusesAWrongDeclaration(_ text: String, _ why: String) async throws {
        let outcome = try await FetchdProcess.run(["config", "show", "--location", text])
        #expect(
            outcome.errors.contains("location contains '\(text)', which ") && outcome.errors.contains(why), "\(outcome)"
        )
    }

    @Test func refusesFoldersThatTwoLocationsHave() async throws {
        let (downloads, other) = (folder.path("downloads"), folder.path("other"))
        for (locations, why) in [
            (["a=\(downloads)"], "has a folder that the downloads folder has, too"),
            (["a=\(other)", "b=\(other)/"], "has a folder that location a has, too"),
            (["a=/x?incomplete=\(other)", "b=/y?incomplete=\(other)"], "has a folder that location a has, too"),
            (["a=\(other)", "a=/z"], "has a name that another location has"),
            (["a=\(other)?incomplete=\(downloads)/parts"], "below \(downloads)"),
        ] {
            let arguments = ["serve", "--downloads-dir", downloads] + locations.flatMap { ["--location", $0] }
            let outcome = try await FetchdProcess.run(arguments)
            #expect(outcome.errors.contains(why) && outcome.ending != .exited(0), "\(outcome)")
        }
    }
}
