import Base
import Downloads
import Formats
import Foundation
import TestKit
import Testing

/// `POST /v1/jobs/import`: a job for each line of a list.
@Suite struct ImportTests {
    private let scene: Scene
    private var api: APIClient { scene.api }

    init() async throws { scene = try await Scene() }

    private func send(
        _ list: String, _ query: String = "", as type: String? = "text/uri-list", key: String? = nil
    ) async throws -> APIAnswer {
        var headers: [(name: String, value: String)] = [("Content-Type", type ?? "")]
        if let key { headers.append(("Idempotency-Key", key)) }
        return try await api.send(
            "POST", "/v1/jobs/import" + (query.isEmpty ? "" : "?" + query), bytes: Array(list.utf8), headers: headers)
    }

    private func count() async throws -> Int {
        try await api.get("/v1/jobs?limit=1000").json["jobs"].arrayValue?.count ?? 0
    }

    private func finishes() async throws -> [JSON] {
        try await api.events().filter { $0["type"] == "session.finished" }
    }

    private func staged() -> [String] { scene.fetchd.folder.files.filter { $0.contains("fetchd.list.") } }

    @Test func downloadsTheFilesOfARowWithTheirDigests() async throws {
        let (one, two) = (Content.random(seed: 1, count: 5_000), Content.random(seed: 2, count: 6_000))
        scene.origin.serve("/vol1/SRR1_1.fastq.gz", .file(one))
        scene.origin.serve("/vol1/SRR1_2.fastq.gz", .file(two))
        let host = scene.origin.url("").dropFirst("http://".count)
        let digests = [one, two].map { HashFunction.md5.hash($0).hexadecimal }
        let list = """
            run_accession\tfastq_bytes\tfastq_ftp\tfastq_md5
            SRR1\t5000;6000\t\(host)/vol1/SRR1_1.fastq.gz;\(host)/vol1/SRR1_2.fastq.gz\t\(digests.joined(separator: ";"))
            SRR2\t\t\t
            """
        let answer = try await send(list, "format=ena&base=http://", as: "text/tab-separated-values")
        #expect(answer.status == 201 && answer.json == ["created": 2, "existing": 0, "batch": 1], "\(answer)")
        let finish = try await eventually("the finish") { try await finishes().first }
        #expect(finish["data"]["counts"]["succeeded"] == 2)
        #expect(scene.fetchd.downloaded("SRR1_1.fastq.gz") == one && scene.fetchd.downloaded("SRR1_2.fastq.gz") == two)
        let jobs = try #require(try await api.get("/v1/jobs").json["jobs"].arrayValue)
        #expect(jobs.map { $0["metadata"]["run_accession"] } == ["SRR1", "SRR1"])
        #expect(staged().isEmpty)
    }

    @Test func failsWithTheDigestOfAnotherFile() async throws {
        let list = "url\tmd5\n\(scene.origin.url("/file"))\t\(String(repeating: "0", count: 32))\n"
        #expect(try await send(list, as: "text/tab-separated-values").status == 201)
        let finish = try await eventually("the finish") { try await finishes().first }
        #expect(finish["data"]["failures"].arrayValue?.first?["code"] == "checksum_mismatch")
    }

    @Test func importsNothingIfALineHasAFault() async throws {
        let lines = (1...250).map { $0 % 2 == 0 ? "ftp://h/\($0)" : scene.origin.url("/file") }
        let answer = try await send(lines.joined(separator: "\n"))
        #expect(answer.status == 422 && answer.json["refused"] == 125, "\(answer)")
        #expect(answer.json["problems"].arrayValue?.count == 100)
        #expect(answer.json["problems"].arrayValue?.first?["line"] == 2)
        #expect(answer.json["problems"].arrayValue?.first?["pointer"] == "/url")
        #expect(try await count() == 0)
        #expect(staged().isEmpty)
    }

    @Test func keepsGoingWithTheGoodLines() async throws {
        let list = "\(scene.origin.url("/file"))\nftp://h/\n\(scene.origin.url("/file"))\n"
        let answer = try await send(list, "keep_going=true")
        #expect(answer.status == 201 && answer.json["created"] == 2 && answer.json["refused"] == 1, "\(answer)")
        #expect(answer.json["problems"].arrayValue?.map { $0["line"] } == [2])
        #expect(try await send("ftp://h/\n", "keep_going=true").status == 422)
    }

    @Test(
        arguments: [
            ("", "", "text/uri-list"), ("# nothing\n", "", "text/uri-list"),
            ("https://h/", "", "application/octet-stream"),
            ("https://h/", "format=words", "text/uri-list"), ("https://h/", "base=h", "text/uri-list"),
            ("abc  x", "format=sha256sum", "application/octet-stream"), ("https://h/", "session=none", "text/uri-list"),
            ("https://h/", "colour=red", "text/uri-list"), ("https://h/", "keep_going=maybe", "text/uri-list"),
            ("{\"url\": \"https://h/\", \"colour\": 1}", "", "application/x-ndjson"),
            ("{\"url\": \"https://h/\", \"resume_from\": \"job_1\"}", "", "application/x-ndjson"),
            ("{\"url\": \"https://h/\", \"deadline\": \"2001-01-01T00:00:00Z\"}", "", "application/x-ndjson"),
            ("rehearse:size=1", "", "text/uri-list"),
        ])
    func refusesAListThatCannotBeImported(_ list: String, _ query: String, _ type: String) async throws {
        let answer = try await send(list, query, as: type)
        #expect(answer.status == 422, "\(answer)")
        #expect(try await count() == 0)
        #expect(staged().isEmpty)
    }

    /// A web page of another origin can send these types without permission.
    @Test(
        arguments: [
            "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "",
            "application/json",
        ])
    func refusesOtherTypes(_ type: String) async throws {
        #expect(try await send("https://h/", "format=urls", as: type).status == 415)
        #expect(try await count() == 0)
    }

    @Test func refusesAnEncodedList() async throws {
        let answer = try await api.send(
            "POST", "/v1/jobs/import", bytes: [31, 139],
            headers: [("Content-Type", "text/uri-list"), ("Content-Encoding", "gzip")])
        #expect(answer.status == 415)
    }

    @Test func importsTheSameListOnce() async throws {
        let list = "\(scene.origin.url("/file"))\n"
        let first = try await send(list)
        let repeated = try await withThrowingTaskGroup(of: JSON.self) { group in
            for _ in 0..<5 { group.addTask { try await send(list).json } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(repeated.allSatisfy { $0 == first.json })
        #expect(try await count() == 1)
        // Other parameters are another import.
        #expect(try await send(list, "keep_going=true").json["created"] == 1)
        #expect(try await send(list, key: "mine").json["created"] == 1)
        #expect(try await send(list, key: "mine").status == 201)
        #expect(try await send(list + "#\n", key: "mine").json["type"] == "/problems/idempotency-key-reused")
        #expect(try await count() == 3)
        #expect(staged().isEmpty)
    }

    @Test func createsJobsInTheSessionsOfTheirLines() async throws {
        for name in ["one", "two"] { _ = try await api.put("/v1/sessions/\(name)") }
        let url = scene.origin.url("/file")
        let list = "url\tsession\n\(url)\tone\n\(url)\ttwo\n\(url)\t\n"
        let answer = try await send(list, "session=two", as: "text/tab-separated-values")
        #expect(answer.json["created"] == 3, "\(answer)")
        #expect(
            answer.json["batches"].arrayValue?.sorted { "\($0["session"])" < "\($1["session"])" } == [
                ["session": "one", "batch": 1], ["session": "two", "batch": 1],
            ])
        _ = try await eventually("both finishes") { try await finishes().count == 2 ? true : nil }
    }

    @Test func judgesTheSessionsAndTheQuotasOfTheToken() async throws {
        let scene = try await Scene(.init(token: "root"))
        scene.origin.serve("/held", .fixed(), .silent)
        _ = try await scene.api.put("/v1/sessions/films")
        let made = try await scene.api.post(
            "/v1/tokens",
            ["name": "q", "scope": "jobs", "sessions": ["films*"], "quotas": ["outstanding_jobs": 3]])
        let api = APIClient(baseURL: scene.fetchd.baseURL, token: made.json["token"].string)
        func send(_ lines: Int, _ query: String, first: String = "") async throws -> APIAnswer {
            let list = first + String(repeating: scene.origin.url("/held") + "\n", count: lines)
            return try await api.send(
                "POST", "/v1/jobs/import?\(query)", bytes: Array(list.utf8),
                headers: [("Content-Type", "text/uri-list")])
        }
        #expect(try await send(4, "session=films").status == 429)
        #expect(try await send(1, "session=default").status == 403)
        #expect(try await send(1, "").status == 403)
        #expect(try await scene.api.get("/v1/jobs").json["jobs"].arrayValue == [])
        #expect(try await send(3, "session=films").json["created"] == 3)
        #expect(try await send(3, "session=films").status == 201)
        #expect(try await send(1, "session=films").status == 429)
        let other = "{\"url\": \"\(scene.origin.url("/held"))\", \"session\": \"default\"}\n"
        let answer = try await api.send(
            "POST", "/v1/jobs/import?session=films", bytes: Array(other.utf8),
            headers: [("Content-Type", "application/x-ndjson")])
        #expect(
            answer.status == 422 && answer.json["problems"].arrayValue?.first?["pointer"] == "/session", "\(answer)")
        #expect(try await scene.api.get("/v1/sessions/films").json["counts"]["running"].integer ?? 0 > 0)
    }

    @Test func namesASessionThatTakesNoJobs() async throws {
        let answer = try await send("https://h/\n", "session=none")
        #expect(answer.json["type"] == "/problems/unknown-session", "\(answer)")
    }

    @Test func finishesOnceForManySteps() async throws {
        let url = scene.origin.url("/file")
        let list = (0..<1700).map { "{\"url\": \"\(url)?\($0)\", \"state\": \"paused\"}" }.joined(separator: "\n")
        #expect(try await send(list, as: "application/x-ndjson").json["created"] == 1700)
        let answer = try await api.post("/v1/sessions/default/cancel")
        #expect(answer.status == 200)
        let finish = try await eventually("the finish") { try await finishes().first }
        #expect(finish["data"]["counts"] == ["succeeded": 0, "failed": 0, "cancelled": 1700])
        let entries = try await api.get("/v1/audit").json["entries"].arrayValue
        #expect(entries?.contains { $0["change"] == "1700 jobs of a list (ndjson)" } == true, "\(entries ?? [])")
    }

    // MARK: Manifest

    @Test func listsTheFilesOfASession() async throws {
        _ = try await api.put("/v1/sessions/set")
        scene.origin.serve("/a", .file(Array("a".utf8)))
        scene.origin.serve("/b", .file(Array("b".utf8)))
        let list = "url\tpath\n\(scene.origin.url("/a"))?x=1\tset/a 1\n\(scene.origin.url("/b"))\tset/b\n"
        #expect(try await send(list, "session=set", as: "text/tab-separated-values").status == 201)
        _ = try await eventually("the finish") { try await finishes().first }
        let (a, b) = (
            HashFunction.sha256.hash(Array("a".utf8)).hexadecimal, HashFunction.sha256.hash(Array("b".utf8)).hexadecimal
        )
        let sums = try await api.get("/v1/sessions/set/manifest")
        #expect(sums.header("Content-Type") == "text/plain; charset=utf-8")
        #expect(
            Set(String(decoding: sums.body, as: UTF8.self).split(separator: "\n")) == ["\(a)  set/a 1", "\(b)  set/b"])
        let table = try await api.get("/v1/sessions/set/manifest?format=tsv")
        let text = String(decoding: table.body, as: UTF8.self)
        #expect(text.hasPrefix("path\tsize\tsha256\turl\n"))
        #expect(text.contains("set/a 1\t1\t\(a)\t\(scene.origin.url("/a"))?x=1\n"))
        // The manifest can be imported again.
        #expect(try await send(text, as: "text/tab-separated-values").json["created"] == 2)

        try FileManager.default.removeItem(atPath: scene.fetchd.folder.path + "/downloads/set/b")
        let rest = try await api.get("/v1/sessions/set/manifest").body
        #expect(String(decoding: rest, as: UTF8.self) == "\(a)  set/a 1\n")
        #expect(try await api.get("/v1/sessions/none/manifest").status == 404)
        #expect(try await api.get("/v1/sessions/set/manifest?format=xml").status == 422)
    }
}
