import Formats
import TestKit
import Testing

/// `POST /v1/jobs` and `/v1/jobs/batch`: accepted documents, and refused ones, of which nothing is stored.
@Suite struct SubmissionTests {
    @Test func answers422WithPointerForInvalidJobAndStoresNothing() async throws {
        let scene = try await Scene()
        for refusal in Refusal.job {
            let answer = try await scene.api.post("/v1/jobs", scene.order().with(refusal.members))
            #expect(answer.status == 422, "\(refusal.members)")
            #expect(answer.problem == refusal.problem, "\(answer)")
            #expect(answer.json["detail"].string?.isEmpty == false)
        }
        #expect(try await scene.isUntouched())
    }

    /// The fourth of five jobs is invalid: none of the five is stored.
    @Test func storesNoneOfBatchWhenOneJobIsInvalid() async throws {
        let scene = try await Scene()
        for refusal in Refusal.job {
            var jobs = Array(repeating: scene.order(), count: 5)
            jobs[3] = jobs[3].with(refusal.members)
            let answer = try await scene.api.post("/v1/jobs/batch", ["jobs": .array(jobs)])
            let pointer = "/jobs/3" + (refusal.problem.pointer ?? "")
            #expect(answer.status == 422, "\(refusal.members)")
            #expect(answer.problem == .init(kind: refusal.problem.kind, pointer: pointer), "\(answer)")
        }
        #expect(try await scene.isUntouched())
    }

    @Test(arguments: [
        ("[]", ""), ("5", ""), ("\"jobs\"", ""), ("null", ""), ("{}", "/jobs"), (#"{"jobs":{}}"#, "/jobs"),
        (#"{"jobs":[]}"#, "/jobs"), (#"{"jobs":[5]}"#, "/jobs/0"),
    ])
    func refusesBatchThatIsNoArrayOfJobs(_ body: String, _ pointer: String) async throws {
        let scene = try await Scene()
        let answer = try await scene.api.send("POST", "/v1/jobs/batch", bytes: Array(body.utf8))
        #expect(answer.status == 422)
        #expect(answer.problem == .init(kind: "invalid-value", pointer: pointer))
    }

    @Test func acceptsBatchOfTenThousandJobs() async throws {
        let scene = try await Scene()
        // No server listens at port 1; the outcome of the jobs does not matter here.
        let jobs = (0..<10_000).map { JSON.object(["url": .string("http://127.0.0.1:1/\($0)")]) }
        let answer = try await scene.api.post("/v1/jobs/batch", ["jobs": .array(jobs)])
        #expect(answer.status == 201)
        #expect(answer.json["jobs"].count == 10_000)
        #expect(answer.json["jobs"][9_999]["url"] == "http://127.0.0.1:1/9999")
        let counts = try await scene.api.session()["counts"].objectValue?.members.compactMap(\.value.integer) ?? []
        #expect(counts.reduce(0, +) == 10_000)
    }

    @Test func refusesBatchOfMoreThanTenThousandJobs() async throws {
        let scene = try await Scene()
        let jobs = Array(repeating: scene.order(), count: 10_001)
        let answer = try await scene.api.post("/v1/jobs/batch", ["jobs": .array(jobs)])
        #expect(answer.problem == .init(kind: "invalid-value", pointer: "/jobs"))
        #expect(try await scene.isUntouched())
    }

    /// A job of a batch may be as large as a job alone.
    @Test func refusesHostileBatches() async throws {
        let scene = try await Scene()
        let job = scene.order().written
        let bodies: [(body: String, pointer: String)] = [
            ("{\"jobs\":[" + String(repeating: "[],", count: 1_000_000) + "[]]}", "/jobs/0"),
            ("{\"jobs\":[\(job)," + String(repeating: "{},", count: 1_000_000) + "{}]}", "/jobs/1/url"),
            ("{\"jobs\":[\(job),[" + String(repeating: "0,", count: 1_000_000) + "0]]}", "/jobs/1"),
        ]
        for (body, pointer) in bodies {
            let answer = try await scene.api.send("POST", "/v1/jobs/batch", bytes: Array(body.utf8))
            #expect(answer.status == 422)
            #expect(answer.problem?.pointer == pointer)
        }
        #expect(try await scene.isUntouched())
    }

    @Test(arguments: ["/v1/jobs", "/v1/jobs/batch"])
    func answers400ForMalformedJSON(_ path: String) async throws {
        let scene = try await Scene()
        let bodies: [[UInt8]] =
            ["", "{", "{\"url\":}", "{\"url\":\"x\",}", "{'url':'x'}", "{\"a\":1}{}", "NaN", "{\"a\":01}", "// a\n{}"]
            .map { Array($0.utf8) } + [[0x22, 0xFF, 0x22], Array(repeating: UInt8(ascii: "["), count: 5000)]
        for body in bodies {
            let answer = try await scene.api.send("POST", path, bytes: body)
            #expect(answer.status == 400, "\(String(decoding: body.prefix(40), as: UTF8.self))")
            #expect(answer.problem == .init(kind: "malformed-json"))
        }
        #expect(try await scene.isUntouched())
    }

    /// A browser sends this content type to another origin only after a preflight.
    @Test(arguments: ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""])
    func answers415ForSubmissionUnlessContentTypeIsJSON(_ type: String) async throws {
        let scene = try await Scene()
        for path in ["/v1/jobs", "/v1/jobs/batch"] {
            let answer = try await scene.api.send("POST", path, scene.order(), headers: [("Content-Type", type)])
            #expect(answer.status == 415)
            #expect(answer.problem == .init(kind: "unsupported-media-type"))
        }
        #expect(try await scene.isUntouched())
    }

    @Test func ignoresParametersOfContentType() async throws {
        let scene = try await Scene()
        let type = "Application/JSON; charset=utf-8"
        let answer = try await scene.api.send("POST", "/v1/jobs", scene.order(), headers: [("Content-Type", type)])
        #expect(answer.status == 201)
    }

    @Test func answers413ForTooLargeJob() async throws {
        let scene = try await Scene()
        let padding: JSON = .string(String(repeating: "a", count: 1 << 20))
        let answer = try await scene.api.post("/v1/jobs", scene.order().with(["metadata": ["text": padding]]))
        #expect(answer.status == 413)
        #expect(answer.problem == .init(kind: "body-too-large"))
        #expect(try await scene.isUntouched())
    }

    @Test func acceptsEveryFieldOfJob() async throws {
        let scene = try await Scene()
        try await scene.api.declareSession("photos")
        let order: JSON = [
            "url": .string(scene.origin.url("/file?signature=1")), "session": "photos", "method": "GET",
            "headers": ["X-Album": "12", "Authorization": "Bearer 9f2c"],
            "destination": [
                "location": "default", "directory": "a/b", "filename": "f.mp4", "on_conflict": "replace",
                "create_directories": true, "staging": "whole",
            ],
            "priority": "high", "expected_size": 200_000, "max_size": 200_000, "digest": "sha-256",
            "timeouts": ["request_seconds": 20.5, "connect_seconds": 5, "resource_seconds": 604_800],
            "retry": ["max_attempts": 3, "base_seconds": 0.5, "max_seconds": 10], "tags": ["b", "a"],
            "metadata": ["nested": ["deep": [1, 2.5, nil, true, "ü"]]], "connections": 1, "wait_for": ["space"],
            "checksum": ["algorithm": "sha-256", "value": .string(SHA.hexadecimal(of: scene.bytes))],
            "urls": nil, "body": nil, "form": nil, "json": nil, "credentials": nil,
            "rate_limit_bytes_per_second": nil, "not_before": nil, "deadline": nil, "resume_from": nil,
        ]
        let answer = try await scene.api.post("/v1/jobs", order)
        #expect(answer.status == 201)
        let id = try #require(answer.json["id"].string)
        #expect(answer.header("Location") == "jobs/\(id)")
        let job = try await scene.api.waitForJob(id, .succeeded)
        for name in ["url", "session", "destination", "priority", "tags", "metadata"] {
            #expect(job[name] == order[name])
        }
        #expect(job["file"]["path"] == "a/b/f.mp4")
        #expect(job["file"]["sha256"] == .string(SHA.hexadecimal(of: scene.bytes)))
        let request = try #require(scene.origin.requests(to: "/file").first)
        #expect(request.header("X-Album") == "12")
        #expect(request.header("Authorization") == "Bearer 9f2c")
    }

    @Test func treatsNullLikeAbsent() async throws {
        let scene = try await Scene()
        let order = scene.order().with([
            "session": nil, "method": nil, "headers": nil, "destination": nil, "priority": nil, "expected_size": nil,
            "max_size": nil, "digest": nil, "timeouts": nil, "retry": nil, "tags": nil, "metadata": nil,
            "connections": nil, "wait_for": nil,
        ])
        #expect(try await scene.api.post("/v1/jobs", order).status == 201)
    }

    @Test func createsBatchInRequestOrder() async throws {
        let scene = try await Scene()
        try await scene.api.declareSession("photos")
        let jobs = (0..<40).map { number in
            scene.order().with(["tags": [.string("t\(number)")], "session": number % 2 == 0 ? "photos" : "default"])
        }
        let answer = try await scene.api.post("/v1/jobs/batch", ["jobs": .array(jobs)])
        #expect(answer.status == 201)
        let created = try #require(answer.json["jobs"].arrayValue)
        #expect(created.map { $0["tags"][0].string } == (0..<40).map { "t\($0)" })
        let ids = created.compactMap { $0["id"].string }
        #expect(ids == ids.sorted() && Set(ids).count == 40)
    }
}
