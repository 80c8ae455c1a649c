import Formats
import Foundation
import TestKit
import Testing

/// The log of the real program: its two formats, its request log and its identifiers.
@Suite struct LogTests {
    private func lines(_ fetchd: FetchdProcess) throws -> [JSON] {
        try fetchd.log.split(separator: "\n").map { try JSON(parsing: String($0)) }
    }

    @Test func everyLineIsAnObjectForMachines() async throws {
        let scene = try await Scene(process: .init(arguments: ["--log-format", "json", "--log-level", "trace"]))
        let fetchd = try #require(scene.fetchd as? FetchdProcess)
        let failed = try await scene.job(in: .failed)
        try await fetchd.stop()
        let lines = try self.lines(fetchd)
        #expect(lines.count > 5)
        for line in lines {
            #expect(line["time"].string?.hasSuffix("Z") == true && line["time"].string?.utf8.count == 24, "\(line)")
            for name in ["level", "message", "source"] { #expect(line[name].string?.isEmpty == false, "\(line)") }
        }
        let attempt = try #require(lines.first { $0["attempt"] == 1 })
        #expect(attempt["job"].string == failed && attempt["code"] == "bad_status" && attempt["session"] == "default")
    }

    @Test func theRequestLogConnectsRequestsAndJobs() async throws {
        let scene = try await Scene(
            process: .init(
                arguments: ["--log-format", "json", "--request-log"], environment: ["FETCHD_LOG_LEVEL": "info"],
                token: "the-api-token"))
        let (api, fetchd) = (scene.api, try #require(scene.fetchd as? FetchdProcess))
        let created = try await api.send(
            "POST", "/v1/jobs", scene.order(), headers: [("X-Request-Id", "client-7")])
        #expect(created.header("X-Request-Id") == "client-7")
        let id = try #require(created.json["id"].string)
        try await api.waitForJob(id, .succeeded)
        let polled = try await api.get("/v1/jobs/\(id)")
        #expect(polled.header("X-Request-Id")?.wholeMatch(of: /[0-9a-f]{16}/) != nil)
        _ = try await api.get("/v1/jobs?tag=query-secret")
        let file = try await api.get("/v1/jobs/\(id)/file")
        let refused = try await APIClient(baseURL: fetchd.baseURL, token: "wrong").get("/v1/jobs")
        #expect(refused.status == 401 && refused.header("X-Request-Id") != nil)
        try await fetchd.stop()
        let requests = try lines(fetchd).filter { $0["method"] != .null }
        func line(_ answer: APIAnswer) -> JSON? {
            requests.first { $0["request"].string == answer.header("X-Request-Id") }
        }
        let creation = try #require(line(created))
        #expect(creation["method"] == "POST" && creation["path"] == "/v1/jobs" && creation["status"] == 201)
        #expect(creation["job"].string == id && creation["caller"] == "FETCHD_TOKEN")
        #expect(creation["address"] == "127.0.0.1")
        #expect(creation["bytes"] == .integer(Int64(created.body.count)))
        #expect(try #require(creation["duration_seconds"].numberValue) > 0)
        #expect(line(polled)?["job"].string == id)
        #expect(line(file)?["bytes"] == .integer(Int64(scene.bytes.count)))
        #expect(line(refused)?["status"] == 401 && line(refused)?["caller"] == .null)
        #expect(!fetchd.log.contains("query-secret") && !fetchd.log.contains("the-api-token"))
    }

    @Test func requestsAreNotLoggedUnlessAsked() async throws {
        let scene = try await Scene(process: .init())
        _ = try await scene.job(in: .succeeded)
        #expect(!scene.fetchd.log.contains("/v1/jobs"))
    }

    /// A client's identifier is used only if it is harmless.
    @Test(arguments: ["has blank", "quote\"", String(repeating: "x", count: 129), "a;b", "a,b"])
    func makesAnIdentifierInPlaceOfAHarmfulOne(_ sent: String) async throws {
        let scene = try await Scene()
        let answer = try await scene.api.get("/v1/sessions", headers: [("X-Request-Id", sent)])
        #expect(answer.status == 200)
        #expect(answer.header("X-Request-Id")?.wholeMatch(of: /[0-9a-f]{16}/) != nil)
    }

    @Test func everyAnswerToAClientsIdentifierHasIt() async throws {
        let scene = try await Scene()
        let id = try await scene.job(in: .succeeded)
        for path in ["/livez", "/v1/jobs/\(id)", "/v1/jobs", "/v1/nothing", "/", "/metrics", "/v1/events"] {
            // The second answer may be one that is kept.
            for _ in 1...2 {
                let answer = try await scene.api.get(path, headers: [("X-Request-Id", "a.B_9:+/=@-")])
                #expect(answer.header("X-Request-Id") == "a.B_9:+/=@-", "\(path)")
            }
        }
    }

    /// Text of a client appears in lines of the log, but does not begin one.
    @Test(arguments: ["text", "json"]) func aClientCannotForgeALine(_ format: String) async throws {
        let scene = try await Scene(
            process: .init(arguments: ["--log-format", format, "--request-log", "--log-level", "trace"]))
        let fetchd = try #require(scene.fetchd as? FetchdProcess)
        for path in ["/v1/jobs/%0A2019-08-19T15:23:14.250Z%20error%20[Engine]%20forged", "/%1B[31mred", "/%C3%28"] {
            _ = try await scene.api.get(path)
        }
        try await fetchd.stop()
        let log = Array(fetchd.log.utf8)
        #expect(!log.contains(0x1B))
        for line in fetchd.log.split(separator: "\n") {
            let isWhole =
                format == "json"
                ? (try? JSON(parsing: String(line))) != nil : line.contains(/^[-0-9T:.]{23}Z [a-z]+ \[/)
            #expect(isWhole && !line.hasPrefix("2019"), "\(line)")
        }
    }

    @Test func refusesAnUnknownFormat() async throws {
        let outcome = try await FetchdProcess.run(["serve", "--log-format", "xml"])
        #expect(
            outcome.ending == .exited(64) && outcome.errors.contains("log_format is 'xml'; it must be text or json."))
    }

    /// The table of docs/monitoring.md names the fields that the sources use.
    @Test func theDocumentationNamesEveryField() throws {
        let page = try String(contentsOfFile: Project.path("docs/monitoring.md"), encoding: .utf8)
        let table = try #require(page.firstRange(of: "\n| field |")).lowerBound
        let end = page[table...].firstRange(of: "\n\n")?.lowerBound ?? page.endIndex
        let described = Set(
            page[table..<end].matches(of: /\n\| ([a-z_`, ]+) \|/).flatMap { row in
                row.1.matches(of: /[a-z_]+/).map { String($0.0) }
            }
        ).subtracting(["field"])
        let files = FileManager.default.enumerator(atPath: Project.path("Sources"))?.compactMap { $0 as? String } ?? []
        var used: Set<String> = []
        for file in files where file.hasSuffix(".swift") {
            let text = try String(contentsOfFile: Project.path("Sources/" + file), encoding: .utf8)
            guard ["logFields", "metadata: [", "Logger.Metadata"].contains(where: text.contains) else {
                continue
            }
            for pattern in [/fields\["([a-z_]+)"\] =/, /"([a-z_]+)": (?:"\\\(|\.stringConvertible)/] {
                for match in text.matches(of: pattern) { used.insert(String(match.1)) }
            }
        }
        #expect(used == described)
    }
}
