import Aria2RPC
import Formats
import Foundation
import TestKit
import Testing

/// aria2's interface over HTTP.
@Suite struct Aria2MethodTests {
    @Test func aDownloadIsAnOrdinaryJob() async throws {
        let scene = try await Aria2Scene()
        let gid = try await scene.call("aria2.addUri", [scene.url], ["out": "a.bin", "dir": "sub", "split": "2"])
        #expect(gid.string?.utf8.count == 16)
        let status = try await scene.waitForStatus(gid, "complete")
        #expect(status["totalLength"] == "300000" && status["completedLength"] == "300000")
        #expect(status["errorCode"] == "0" && status["uploadSpeed"] == "0")
        #expect(status["numPieces"] == "1" && status["bitfield"] == "80")
        #expect(status["dir"].string == scene.service.folder.path("downloads/sub"))
        let file = status["files"].arrayValue?.first ?? .null
        #expect(file["path"].string == scene.service.folder.path("downloads/sub/a.bin"))
        #expect(file["index"] == "1" && file["selected"] == "true" && file["length"] == "300000")
        #expect(scene.service.downloaded("sub/a.bin") == scene.content)
        let jobs = try await scene.service.api.get("/v1/jobs?session=aria2").json["jobs"].arrayValue ?? []
        #expect(jobs.map { $0["state"] } == ["succeeded"])
        try await scene.service.stop()
    }

    /// One download for each file, in their order, with what the document says of it.
    @Test func aMetalinkIsADownloadForEachFile() async throws {
        let scene = try await Aria2Scene()
        func document(_ files: String) -> JSON {
            let text = "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">\(files)</metalink>"
            return .string(Data(text.utf8).base64EncodedString())
        }
        let sum = SHA.hexadecimal(of: scene.content)
        let url = scene.url.string ?? ""
        let files = """
            <file name="set/one.bin"><size>\(scene.content.count)</size><hash type="sha-256">\(sum)</hash>
            <url priority="2">http://127.0.0.1:1/one</url><url priority="1">\(url)</url></file>
            <file name="two.bin"><hash type="sha-256">\(String(repeating: "0", count: 64))</hash><url>\(url)</url></file>
            """
        _ = try await scene.call("aria2.addUri", [scene.url], ["pause": "true", "out": "last"])
        let gids = try await scene.call("aria2.addMetalink", document(files), ["pause": "true", "dir": "all"], 0)
        let waiting = try await scene.call("aria2.tellWaiting", 0, 10, ["gid"]).arrayValue?.map { $0["gid"] }
        #expect(gids.arrayValue?.count == 2 && waiting?.prefix(2).map(\.self) == gids.arrayValue)
        for gid in gids.arrayValue ?? [] { _ = try await scene.call("aria2.unpause", gid) }
        _ = try await scene.waitForStatus(gids.arrayValue?[0] ?? .null, "complete")
        #expect(scene.service.downloaded("all/set/one.bin") == scene.content)
        #expect(try await scene.waitForStatus(gids.arrayValue?[1] ?? .null, "error")["errorCode"] == "32")

        let failure = "Could not parse Metalink XML document."
        for wrong: JSON in [
            "", "no base64", document("<file name='x'>"), .string(Data("<html/>".utf8).base64EncodedString()),
        ] {
            #expect(try await scene.answer("aria2.addMetalink", wrong).json["error"]["message"].string == failure)
        }
        // None of them is added, because one cannot be.
        let mixed = document("<file name='a'><url>\(url)</url></file><file name='../b'><url>\(url)</url></file>")
        #expect(try await scene.answer("aria2.addMetalink", mixed).status == 400)
        #expect(try await scene.call("aria2.addMetalink", document("")) == [])
        #expect(try await scene.call("aria2.getGlobalStat")["numWaiting"] == "1")
        try await scene.service.stop()
    }

    @Test func aDownloadStaysListedUntilItIsPurged() async throws {
        let scene = try await Aria2Scene()
        let done = try await scene.call("aria2.addUri", [scene.url])
        _ = try await scene.waitForStatus(done, "complete")
        let removed = try await scene.call("aria2.addUri", [scene.url], ["pause": "true"])
        #expect(try await scene.call("aria2.remove", removed) == removed)
        let stopped = try await scene.call("aria2.tellStopped", -1, 10, ["gid", "status", "errorCode"])
        #expect(
            stopped == [
                ["gid": removed, "status": "removed", "errorCode": "31"],
                ["gid": done, "status": "complete", "errorCode": "0"],
            ])
        #expect(try await scene.call("aria2.removeDownloadResult", removed) == "OK")
        #expect(try await scene.call("aria2.getGlobalStat")["numStopped"] == "1")
        #expect(try await scene.call("aria2.purgeDownloadResult") == "OK")
        #expect(try await scene.call("aria2.tellStopped", 0, 10) == [])
        #expect(scene.service.downloaded("file.bin") == scene.content)
        try await scene.service.stop()
    }

    @Test func positionsOrderTheWaitingDownloads() async throws {
        let scene = try await Aria2Scene()
        var gids: [JSON] = []
        for _ in 0..<4 { gids.append(try await scene.call("aria2.addUri", [scene.url], ["pause": "true"])) }
        func waiting() async throws -> [JSON] {
            (try await scene.call("aria2.tellWaiting", 0, 10, ["gid"]).arrayValue ?? []).map { $0["gid"] }
        }
        #expect(try await waiting() == gids)
        #expect(try await scene.call("aria2.changePosition", gids[3], 0, "POS_SET") == 0)
        #expect(try await scene.call("aria2.changePosition", gids[3], 1, "POS_CUR") == 1)
        #expect(try await scene.call("aria2.changePosition", gids[0], 0, "POS_END") == 3)
        #expect(try await waiting() == [gids[3], gids[1], gids[2], gids[0]])
        #expect(try await scene.call("aria2.changePosition", gids[1], -5, "POS_CUR") == 0)
        let new = try await scene.call("aria2.addUri", [scene.url], ["pause": "true"], 1)
        #expect(try await waiting() == [gids[1], new, gids[3], gids[2], gids[0]])
        try await scene.service.restart()
        #expect(try await waiting() == [gids[1], new, gids[3], gids[2], gids[0]])
        try await scene.service.stop()
    }

    @Test func aPausedDownloadContinues() async throws {
        let scene = try await Aria2Scene()
        let gid = try await scene.call("aria2.addUri", [scene.url], ["pause": "true", "gid": "00000000000000aB"])
        #expect(gid == "00000000000000ab")
        #expect(try await scene.call("aria2.tellStatus", "0", ["status"]) == ["status": "paused"])
        #expect(try await scene.answer("aria2.pause", gid).status == 400)
        #expect(try await scene.call("aria2.changeOption", gid, ["out": "b.bin", "max-download-limit": "1M"]) == "OK")
        #expect(try await scene.call("aria2.getOption", gid)["max-download-limit"] == "1048576")
        let other: JSON = .string(scene.origin.url("/other"))
        #expect(try await scene.call("aria2.changeUri", gid, 1, [], [other]) == [0, 1])
        #expect(try await scene.call("aria2.getUris", gid).arrayValue?.map { $0["uri"] } == [scene.url, other])
        #expect(try await scene.call("aria2.changeUri", gid, 1, [other], []) == [1, 0])
        #expect(try await scene.call("aria2.unpause", gid) == gid)
        _ = try await scene.waitForStatus(gid, "complete")
        #expect(scene.service.downloaded("b.bin") == scene.content)
        try await scene.service.stop()
    }

    @Test func aChecksumHolds() async throws {
        let scene = try await Aria2Scene()
        let gid = try await scene.call(
            "aria2.addUri", [scene.url], ["checksum": "md5=00000000000000000000000000000000"])
        let status = try await scene.waitForStatus(gid, "error")
        #expect(status["errorCode"] == "32" && !(status["errorMessage"].string ?? "").isEmpty)
        try await scene.service.stop()
    }

    /// Clients such as rdt-client give up a waiting download that has an error.
    @Test func onlyAStoppedDownloadHasAnError() async throws {
        let scene = try await Aria2Scene()
        let gid = try await scene.call("aria2.addUri", ["http://127.0.0.1:1/file"])
        _ = try await eventually("the first attempt to fail") {
            let jobs = try await scene.service.api.get("/v1/jobs?state=waiting").json["jobs"].arrayValue ?? []
            return jobs.isEmpty ? nil : true
        }
        let status = try await scene.call("aria2.tellStatus", gid)
        #expect(status["status"] == "waiting")
        #expect(status.objectValue?["errorCode"] == nil && status.objectValue?["errorMessage"] == nil)
        try await scene.service.stop()
    }

    @Test func whatADownloadHasFromItsBeginningCannotBeChanged() async throws {
        let scene = try await Aria2Scene()
        let gid = try await scene.call("aria2.addUri", [scene.url], ["pause": "true", "max-tries": "4"])
        let refused: [JSONObject] = [
            ["checksum": "md5=00000000000000000000000000000000"], ["max-tries": "2"], ["retry-wait": "9"],
            ["timeout": "9"], ["connect-timeout": "9"], ["gid": "00000000000000ab"], ["dry-run": "true"],
        ]
        for options in refused {
            #expect(try await scene.answer("aria2.changeOption", gid, .object(options)).status == 400, "\(options)")
        }
        // Some clients send all options that they have read.
        let present = try await scene.call("aria2.getOption", gid)
        #expect(try await scene.call("aria2.changeOption", gid, present) == "OK")
        try await scene.service.stop()
    }

    @Test func aDryRunStoresNoFile() async throws {
        let scene = try await Aria2Scene()
        #expect(try await scene.answer("aria2.addUri", [scene.url], ["dry-run": "true"]).status == 400)
        #expect(try await scene.call("aria2.getGlobalStat")["numWaiting"] == "0")
        try await scene.service.stop()
    }

    @Test func globalOptionsOfDownloadsAreThoseOfTheSession() async throws {
        let scene = try await Aria2Scene()
        let folder = scene.service.folder.path("downloads/films")
        let options: JSON = [
            "dir": .string(folder), "split": "3", "user-agent": "agent/1", "max-tries": "2", "timeout": "33",
            "auto-file-renaming": "false", "log": "-",
        ]
        #expect(try await scene.call("aria2.changeGlobalOption", options) == "OK")
        let session = try await scene.service.api.session("aria2")["configuration"]
        #expect(session["directory"] == "films" && session["connections"] == 3 && session["user_agent"] == "agent/1")
        #expect(session["retry"]["max_attempts"] == 2 && session["timeouts"]["request_seconds"] == 33)
        #expect(session["on_conflict"] == "error")
        let shown = try await scene.call("aria2.getGlobalOption")
        #expect(shown["dir"].string == folder && shown["split"] == "3" && shown["user-agent"] == "agent/1")
        let gid = try await scene.call("aria2.addUri", [scene.url], ["out": "a/b.bin"])
        #expect(try await scene.call("aria2.getOption", gid)["max-tries"] == "2")
        #expect(try await scene.waitForStatus(gid, "complete")["dir"].string == folder + "/a")
        #expect(scene.service.downloaded("films/a/b.bin") == scene.content)
        for refused in [["max-download-limit": "1M"], ["dir": "/elsewhere"], ["split": "0"]] as [JSON] {
            #expect(try await scene.answer("aria2.changeGlobalOption", refused).status == 400)
        }
        let proxy: JSON = ["all-proxy": "http://user:secret@127.0.0.1:9"]
        #expect(try await scene.call("aria2.changeGlobalOption", proxy) == "OK")
        #expect(try await scene.call("aria2.getGlobalOption")["all-proxy"] == "http://127.0.0.1:9")
        #expect(try await scene.service.api.session("aria2")["configuration"]["proxy"] == "http://127.0.0.1:9")
        try await scene.service.stop()
    }

    @Test func everyDownloadCanBePausedAndContinued() async throws {
        let scene = try await Aria2Scene()
        #expect(try await scene.call("aria2.pauseAll") == "OK")
        #expect(try await scene.call("aria2.tellActive") == [])
        let gid = try await scene.call("aria2.addUri", [scene.url], ["pause": "true"])
        #expect(try await scene.call("aria2.unpauseAll") == "OK")
        _ = try await scene.waitForStatus(gid, "complete")
        try await scene.service.stop()
    }

    @Test func globalOptionsAreSettingsOfTheService() async throws {
        let scene = try await Aria2Scene()
        let options: JSON = ["max-overall-download-limit": "1M", "max-concurrent-downloads": "3", "log": "-"]
        #expect(try await scene.call("aria2.changeGlobalOption", options) == "OK")
        let settings = try await scene.service.api.get("/v1/service").json
        #expect(settings["rate_limit_bytes_per_second"] == 1_048_576 && settings["max_concurrent_jobs"] == 3)
        #expect(try await scene.call("aria2.getGlobalOption")["max-overall-download-limit"] == "1048576")
        let entries = try await scene.service.api.get("/v1/audit").json["entries"].arrayValue ?? []
        #expect(entries.contains { $0["action"] == "POST /jsonrpc" })
        try await scene.service.stop()
    }

    /// Otherwise a change of the start values would change what the client has set.
    @Test func aGlobalOptionIsStoredAlsoIfItHasItsValue() async throws {
        let scene = try await Aria2Scene()
        let present = try await scene.call("aria2.getGlobalOption")["max-concurrent-downloads"]
        #expect(try await scene.call("aria2.changeGlobalOption", ["max-concurrent-downloads": present]) == "OK")
        let settings = try await scene.service.api.get("/v1/service").json
        #expect(settings["max_concurrent_jobs"].integer.map { "\($0)" } == present.string)
        #expect(settings["sources"]["max_concurrent_jobs"] == "api")
        #expect(settings["sources"]["rate_limit_bytes_per_second"] == "default")
        try await scene.service.stop()
    }

    // MARK: Messages

    @Test(
        arguments: [
            ("aria2.foo", [], "No such method: aria2.foo"), ("aria2.tellStatus", ["abc"], "GID abc is not found"),
            ("aria2.tellStatus", ["zz"], "Invalid GID zz"),
            ("aria2.tellStatus", [], "The parameter at 0 is required but missing."),
            ("aria2.addUri", ["x"], "The parameter at 0 has wrong type."),
            ("aria2.addUri", [[]], "URI is not provided."),
            ("aria2.tellWaiting", [0], "The parameter at 1 is required but missing."),
        ] as [(String, [JSON], String)])
    func errorsAreThoseOfAria2(_ method: String, _ parameters: [JSON], _ message: String) async throws {
        let scene = try await Aria2Scene()
        let answer = try await scene.api.post(
            "/jsonrpc", ["id": 7, "method": .string(method), "params": .array(parameters)])
        #expect(answer.status == 400)
        #expect(answer.json == ["id": 7, "jsonrpc": "2.0", "error": ["code": 1, "message": .string(message)]])
        try await scene.service.stop()
    }

    @Test func aMulticallAnswersEachCall() async throws {
        let scene = try await Aria2Scene()
        let results = try await scene.call(
            "system.multicall",
            [
                ["methodName": "aria2.tellActive", "params": []], ["methodName": "aria2.foo"],
                ["methodName": "system.multicall", "params": [[]]], 5,
            ])
        #expect(
            results == [
                [[]], ["code": 1, "message": "No such method: aria2.foo"],
                ["code": 1, "message": "Recursive system.multicall forbidden."],
                ["code": 1, "message": "system.multicall expected struct."],
            ])
        try await scene.service.stop()
    }

    // MARK: Callers

    @Test func aSecretIsATokenWithItsScope() async throws {
        let scene = try await Aria2Scene(token: "first")
        #expect(try await scene.answer("aria2.tellActive").json["error"]["message"] == "Unauthorized")
        #expect(try await scene.answer("aria2.tellActive", "token:wrong").status == 400)
        #expect(try await scene.call("aria2.tellActive", "token:first") == [])
        func token(_ body: JSON) async throws -> JSON {
            let secret = try await scene.service.api.post("/v1/tokens", body).json["token"].string ?? ""
            return .string("token:\(secret)")
        }
        let reader = try await token(["scope": "read"])
        #expect(try await scene.call("aria2.tellActive", reader) == [])
        #expect(try await scene.answer("aria2.addUri", reader, [scene.url]).status == 400)
        #expect(try await scene.answer("aria2.changeGlobalOption", reader, [:]).status == 400)
        let stranger = try await token(["scope": "jobs", "sessions": ["other"]])
        let refused = try await scene.answer("aria2.tellActive", stranger)
        #expect(refused.status == 400)
        // The name of the session is none of its business.
        #expect(refused.json["error"]["message"].string?.contains("aria2") == false)
        let audit = try await scene.service.api.get("/v1/audit")
        #expect(audit.status == 200)
        try await scene.service.stop()
    }

    @Test func aWebPageMustBeAllowed() async throws {
        let scene = try await Aria2Scene()
        let message: JSON = ["id": "1", "method": "aria2.tellActive"]
        func status(_ origin: String) async throws -> Int {
            try await scene.api.send("POST", "/jsonrpc", message, headers: [("Origin", origin)]).status
        }
        #expect(try await status("https://evil.example") == 403)
        #expect(try await status("null") == 403)
        let get = try await scene.api.send(
            "GET", "/jsonrpc?method=aria2.tellActive&id=1", nil, headers: [("Origin", "https://evil.example")])
        #expect(get.status == 403)
        try await scene.service.stop()
    }

    @Test func aPageOfAFileNeedsAToken() async throws {
        let origin = "chrome-extension://abcdefghijklmnop"
        let service = try await LocalService.start(
            .init {
                $0.start.values.aria2RPC = true
                $0.start.values.allowedOrigins = .only([.shared, .init(origin)!])
            })
        for origin in ["null", origin] {
            let answer = try await APIClient(baseURL: service.baseURL, isRecorded: false).send(
                "POST", "/jsonrpc", ["id": "1", "method": "aria2.tellActive"], headers: [("Origin", origin)])
            #expect(answer.json["error"]["message"] == "Unauthorized")
        }
        try await service.stop()
    }

    @Test func aGETWithoutATokenOnlyReads() async throws {
        let scene = try await Aria2Scene()
        #expect(try await scene.api.get("/jsonrpc?method=aria2.tellActive&id=1").json["result"] == [])
        let change = try await scene.api.get("/jsonrpc?method=aria2.pauseAll&id=1")
        #expect(change.status == 400 && change.json["error"]["code"] == 1)
        try await scene.service.stop()
    }

    @Test func xmlIsToldWhatIsSpokenHere() async throws {
        let scene = try await Aria2Scene()
        let call = "<?xml version=\"1.0\"?><methodCall><methodName>aria2.getVersion</methodName></methodCall>"
        let answer = try await scene.api.send(
            "POST", "/rpc", bytes: Array(call.utf8), headers: [("Content-Type", "text/xml")])
        #expect(answer.status == 200 && answer.header("Content-Type") == "text/xml")
        #expect(answer.text.contains("<fault>") && answer.text.contains("JSON-RPC at /jsonrpc"))
        try await scene.service.stop()
    }

    @Test func theInterfaceIsOffByDefault() async throws {
        let service = try await LocalService.start()
        #expect(
            try await APIClient(baseURL: service.baseURL, isRecorded: false).post(
                "/jsonrpc", ["id": "1", "method": "system.listMethods"]
            ).status == 404)
        try await service.stop()
    }
}
