import API
import CurlClient
import Daemon
import Foundation
import TestKit
import Testing

/// `GET /v1/jobs/{id}/file` at a node that does not have the file: another one with the same jobs has it.
@Suite(.onSQLite) struct RelayedFileTests {
    private let owner: Scene
    private let job: String
    private let asked: LocalService

    /// - Parameters:
    ///   - url: replaces the URL of the node that has the file.
    ///   - number: of the node at the URL. The other node expects the number 2.
    private init(token: String? = nil, at url: String?? = .none, number: Int64 = 2) async throws {
        let folder = try TemporaryFolder()
        let first = try await Scene(.init(token: token), in: folder)
        job = try await first.job(in: .succeeded)
        try await first.fetchd.stop()
        let copy = try TemporaryFolder()
        try FileManager.default.copyItem(atPath: folder.path("data"), toPath: copy.path("data"))
        let relay = CurlFileRelay(try CurlClient())
        owner = try await Scene(
            .init(token: token) { options in
                options.api.remoteFiles = RemoteFiles(
                    own: number, owner: { _ in nil }, url: { _ in nil }, relay: relay.response)
            }, in: folder)
        let known = url ?? owner.fetchd.baseURL
        asked = try await LocalService.start(
            .init(token: token) { options in
                options.api.remoteFiles = RemoteFiles(
                    own: 1, owner: { _ in 2 }, url: { _ in known }, relay: relay.response)
            }, in: copy)
    }

    init() async throws { try await self.init(token: nil) }

    private func file(_ headers: [(String, String)] = []) async throws -> APIAnswer {
        try await asked.api.get("/v1/jobs/\(job)/file", headers: headers)
    }

    @Test func isTheSameResponse() async throws {
        let direct = try await owner.api.get("/v1/jobs/\(job)/file")
        let relayed = try await file()
        #expect(relayed.status == 200)
        #expect(relayed.body == owner.bytes)
        for name in ["ETag", "Content-Type", "Content-Disposition", "Accept-Ranges", "X-Content-Type-Options"] {
            #expect(relayed.header(name) == direct.header(name), "\(name)")
            #expect(relayed.header(name) != nil, "\(name)")
        }
        #expect(relayed.header("X-Request-Id") != nil)
        let head = try await asked.api.send("HEAD", "/v1/jobs/\(job)/file")
        #expect(head.status == 200)
        #expect(head.body.isEmpty)
        #expect(head.header("Content-Length") == "\(owner.bytes.count)")
    }

    @Test func passesRangesAndConditionsOn() async throws {
        let range = try await file([("Range", "bytes=10-19")])
        #expect(range.status == 206)
        #expect(range.body == Array(owner.bytes[10..<20]))
        #expect(range.header("Content-Range") == "bytes 10-19/\(owner.bytes.count)")
        let several = try await file([("Range", "bytes=0-0,5-9")])
        #expect(several.status == 206)
        #expect(several.header("Content-Type")?.hasPrefix("multipart/byteranges") == true)
        let tag = try #require(range.header("ETag"))
        #expect(try await file([("If-None-Match", tag)]).status == 304)
        #expect(try await file([("Range", "bytes=10-19"), ("If-Range", "\"other\"")]).status == 200)
        let outside = try await file([("Range", "bytes=9999999-")])
        #expect(outside.status == 416)
        #expect(outside.problem == .init(kind: "range-not-satisfiable"))
        #expect(outside.header("Content-Range") == "bytes */\(owner.bytes.count)")
    }

    @Test func tellsThatTheFileIsGone() async throws {
        let path = try #require(try await owner.api.job(job)["file"]["path"].string)
        try FileManager.default.removeItem(atPath: owner.fetchd.folder.path("downloads/\(path)"))
        let answer = try await file()
        #expect(answer.status == 410)
        #expect(answer.problem == .init(kind: "file-gone"))
    }

    /// The node that was asked has checked the caller, and proves that to the other node.
    @Test func needsTheTokenOfTheCallerOnce() async throws {
        let scene = try await Self(token: "secret")
        #expect(try await scene.file().body == scene.owner.bytes)
        let path = "/v1/jobs/\(scene.job)/file"
        let stranger = APIClient(baseURL: scene.asked.baseURL, token: nil)
        #expect(try await stranger.get(path).status == 401)
        let forged = [("Fetchd-Relay", "99999999999.2.00.00"), ("Fetchd-Relay", "x")]
        for field in forged {
            let direct = APIClient(baseURL: scene.owner.fetchd.baseURL, token: nil)
            #expect(try await direct.get(path, headers: [field]).status == 401)
        }
    }

    @Test func tellsThatTheOtherNodeIsAway() async throws {
        try await owner.fetchd.stop()
        let answer = try await file()
        #expect(answer.status == 503)
        #expect(answer.problem == .init(kind: "unavailable"))
        #expect(answer.header("Retry-After") == "5")
        #expect(answer.json["detail"].string?.contains("The file is on node 2, which cannot send it now") == true)
    }

    @Test func tellsThatTheOtherNodeHasNoURL() async throws {
        let scene = try await Self(at: .some(nil))
        let answer = try await scene.file()
        #expect(answer.status == 503)
        #expect(answer.json["detail"].string?.contains("--node-url") == true)
    }

    /// Another node has the address now, or it is that of a load balancer. Its answer says nothing about the file.
    @Test func isNotAskedOfAnotherNode() async throws {
        let scene = try await Self(number: 3)
        let path = try #require(try await scene.owner.api.job(scene.job)["file"]["path"].string)
        try FileManager.default.removeItem(atPath: scene.owner.fetchd.folder.path("downloads/\(path)"))
        let answer = try await scene.file()
        #expect(answer.status == 503)
        #expect(answer.json["detail"].string?.contains("it has answered with the status 421") == true, "\(answer)")
    }

    /// A stranger has the address of a node that has gone.
    @Test func isNotTakenFromAStranger() async throws {
        let stranger = try Origin()
        let scene = try await Self(token: "secret", at: stranger.url(""))
        stranger.serve("/v1/jobs/\(scene.job)/file", .file(Content.random(seed: 1, count: 100)))
        let answer = try await scene.file()
        #expect(answer.status == 503)
        #expect(answer.problem == .init(kind: "unavailable"))
        let detail = answer.json["detail"].string ?? ""
        #expect(detail.contains("the server at its URL has not proved to be this node"), "\(answer)")
        #expect(try await scene.asked.api.send("HEAD", "/v1/jobs/\(scene.job)/file").status == 503)
        let fields = stranger.requests.flatMap(\.headers)
        #expect(stranger.requests.count == 2)
        #expect(!fields.contains { $0.name.lowercased() == "authorization" || $0.value.contains("secret") })
    }

    /// Both nodes believe that the other one has the file.
    @Test func doesNotPassARelayedRequestOn() async throws {
        let port = Monitor<UInt16>(0)
        let folder = asked.folder
        try await asked.stop()
        let relay = CurlFileRelay(try CurlClient())
        let alone = try await LocalService.start(
            .init { options in
                options.api.remoteFiles = RemoteFiles(
                    own: 2, owner: { _ in 2 }, url: { _ in "http://127.0.0.1:\(port.current)" }, relay: relay.response)
            }, in: folder)
        port.withLock { $0 = alone.port }
        #expect(try await alone.api.get("/v1/jobs/\(job)/file").status == 410)
        try await alone.stop()
    }
}
