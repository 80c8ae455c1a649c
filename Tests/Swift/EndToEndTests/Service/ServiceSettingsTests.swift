import Configuration
import Formats
import Foundation
import TestKit
import Testing

/// `GET` and `PATCH /v1/service`: settings that change while the service runs.
@Suite struct ServiceSettingsTests {
    private func patch(_ api: APIClient, _ body: JSON) async throws -> APIAnswer {
        try await api.send(
            "PATCH", "/v1/service", bytes: body.bytes, headers: [("Content-Type", "application/merge-patch+json")])
    }

    private func service(_ api: APIClient) async throws -> JSON { try await api.get("/v1/service").json }

    @Test func showsEverySettingWithItsSource() async throws {
        let scene = try await Scene(
            .init {
                $0.start.values.maxConcurrentJobs = 3
                $0.start.sources = [.maxConcurrentJobs: .file, "allow_network": .flag]
            })
        #expect(
            try await service(scene.api) == [
                "rate_limit_bytes_per_second": 0, "max_concurrent_jobs": 3, "max_connections_per_host": 6, "hosts": [],
                "schedule": [], "allow_network": ["127.0.0.0/8"], "deny_network": [], "allow_webhook_network": [],
                "allow_origin_host": [], "deny_origin_host": [], "allow_origin_port": [],
                "minimum_free_bytes": nil, "max_file_size": nil, "resume_data_max_bytes": nil, "max_parts": nil,
                "event_retention": 604_800, "unacknowledged_retention": 2_592_000, "finished_retention": nil,
                "log_level": "info",
                "effective": ["rate_limit_bytes_per_second": 0, "max_concurrent_jobs": 3, "until": nil],
                "sources": [
                    "rate_limit_bytes_per_second": "default", "max_concurrent_jobs": "file",
                    "max_connections_per_host": "default", "hosts": "default", "schedule": "default",
                    "allow_network": "flag",
                    "deny_network": "default", "allow_webhook_network": "default", "allow_origin_host": "default",
                    "deny_origin_host": "default", "allow_origin_port": "default", "minimum_free_bytes": "default",
                    "max_file_size": "default", "resume_data_max_bytes": "default", "max_parts": "default",
                    "event_retention": "default", "unacknowledged_retention": "default",
                    "finished_retention": "default", "log_level": "default",
                ],
            ])
    }

    @Test func changedValueOutlivesARestartAndNullResetsIt() async throws {
        let service = try await LocalService.start(.init { $0.start.values.maxConcurrentJobs = 3 })
        let changed = try await patch(service.api, ["max_concurrent_jobs": 5, "rate_limit_bytes_per_second": 1000])
        #expect(changed.status == 200)
        for isRestarted in [false, true] {
            if isRestarted { try await service.restart() }
            let document = try await self.service(service.api)
            #expect(document["max_concurrent_jobs"] == 5 && document["sources"]["max_concurrent_jobs"] == "api")
            #expect(
                document["effective"] == ["rate_limit_bytes_per_second": 1000, "max_concurrent_jobs": 5, "until": nil])
            #expect(try await service.api.get("/v1/stats").json["slots"]["max"] == 5)
        }
        let reset = try await patch(service.api, ["max_concurrent_jobs": nil])
        #expect(reset.json["max_concurrent_jobs"] == 3 && reset.json["sources"]["max_concurrent_jobs"] == "default")
        #expect(reset.json["rate_limit_bytes_per_second"] == 1000)
        try await service.restart()
        #expect(try await self.service(service.api) == reset.json)
    }

    /// A document that a client has read can be sent back, as application/json, too.
    @Test func acceptsItsOwnValues() async throws {
        let scene = try await Scene()
        let rule = "mon-fri 08:00-18:00 Europe/Berlin rate_limit_bytes_per_second=2Mi max_concurrent_jobs=2"
        let values: JSON = [
            "schedule": [.string(rule)], "allow_network": ["10.0.0.0/8", "::1", "127.0.0.0/8"],
            "allow_origin_host": ["*.Example.com", "b\u{FC}cher.example"], "allow_origin_port": ["443", "8000-8999"],
            "log_level": "debug", "minimum_free_bytes": 1000, "max_file_size": 1_152_921_504_606_846_976,
            "resume_data_max_bytes": 0, "max_parts": 7, "event_retention": 86_400.5, "finished_retention": 3600,
        ]
        let answer = try await patch(scene.api, values)
        #expect(answer.status == 200, "\(answer)")
        #expect(
            answer.json["schedule"] == [
                "mon-fri 08:00-18:00 Europe/Berlin rate_limit_bytes_per_second=2097152 max_concurrent_jobs=2"
            ])
        #expect(answer.json["allow_network"] == ["10.0.0.0/8", "::1/128", "127.0.0.0/8"])
        #expect(answer.json["allow_origin_host"] == ["*.example.com", "xn--bcher-kva.example"])
        #expect(answer.json["log_level"] == "debug")
        var again = answer.json.objectValue ?? [:]
        (again["effective"], again["sources"]) = (nil, nil)
        let second = try await scene.api.send("PATCH", "/v1/service", .object(again))
        #expect(second.status == 200, "\(second)")
        for (name, value) in again.members { #expect(second.json[name] == value, "\(name)") }
    }

    @Test(
        arguments: [
            ("{", 400, "malformed-json", nil), ("[]", 422, "invalid-value", ""),
            (#"{"max_concurrent_jobs": 0}"#, 422, "invalid-value", "/max_concurrent_jobs"),
            (#"{"max_concurrent_jobs": 10001}"#, 422, "invalid-value", "/max_concurrent_jobs"),
            (#"{"max_concurrent_jobs": "4"}"#, 422, "invalid-value", "/max_concurrent_jobs"),
            (#"{"rate_limit_bytes_per_second": -1}"#, 422, "invalid-value", "/rate_limit_bytes_per_second"),
            (#"{"max_connections_per_host": 1.5}"#, 422, "invalid-value", "/max_connections_per_host"),
            (#"{"allow_network": "10.0.0.0/8"}"#, 422, "invalid-value", "/allow_network"),
            (#"{"deny_network": ["10.0.0.0/33"]}"#, 422, "invalid-value", "/deny_network"),
            (#"{"allow_webhook_network": [10]}"#, 422, "invalid-value", "/allow_webhook_network"),
            (#"{"allow_origin_host": ["a b"]}"#, 422, "invalid-value", "/allow_origin_host"),
            (#"{"allow_origin_port": ["0"]}"#, 422, "invalid-value", "/allow_origin_port"),
            (#"{"log_level": "loud"}"#, 422, "invalid-value", "/log_level"),
            (#"{"max_file_size": -1}"#, 422, "invalid-value", "/max_file_size"),
            (#"{"max_parts": "5"}"#, 422, "invalid-value", "/max_parts"),
            (#"{"event_retention": 315360001}"#, 422, "invalid-value", "/event_retention"),
            (#"{"finished_retention": "1d"}"#, 422, "invalid-value", "/finished_retention"),
            (#"{"schedule": ["mon 08:00-09:00 UTC max_concurrent_jobs=x"]}"#, 422, "invalid-value", "/schedule"),
            (#"{"listen": "127.0.0.1:1"}"#, 422, "unknown-field", "/listen"),
            (#"{"sources": {}}"#, 422, "unknown-field", "/sources"),
            (#"{"max_concurrent_jobs": 4, "unknown": 1}"#, 422, "unknown-field", "/unknown"),
        ] as [(String, Int, String, String?)])
    func refusesAWrongValueAndChangesNothing(
        _ body: String, _ status: Int, _ kind: String, _ pointer: String?
    ) async throws {
        let scene = try await Scene()
        let before = try await service(scene.api)
        let answer = try await scene.api.send("PATCH", "/v1/service", bytes: Array(body.utf8))
        #expect(answer.status == status && answer.problem == .init(kind: kind, pointer: pointer), "\(answer)")
        #expect(try await service(scene.api) == before)
        #expect(try await scene.api.get("/v1/audit").json["entries"] == [])
    }

    // MARK: Callers

    @Test func onlyAdministratorsSeeAndChangeNetworksAndTheLog() async throws {
        let scene = try await Scene(.init(token: "first"))
        let editor = try await scene.api.caller("sessions")
        let document = try await service(editor)
        #expect(document["max_concurrent_jobs"] == 16)
        for name in [
            "allow_network", "deny_network", "allow_webhook_network", "allow_origin_host", "deny_origin_host",
            "allow_origin_port", "minimum_free_bytes", "max_file_size", "resume_data_max_bytes", "max_parts",
            "event_retention", "unacknowledged_retention", "finished_retention", "log_level",
        ] {
            #expect(document.objectValue?[name] == .null, "\(name)")
            let refused = try await patch(editor, .object([name: nil, "max_concurrent_jobs": 1]))
            #expect(refused.status == 403 && refused.problem == .init(kind: "forbidden", pointer: "/\(name)"))
            #expect(refused.json["scope"] == "admin")
            #expect(try await patch(scene.api, .object([name: nil])).status == 200)
        }
        #expect(try await service(editor)["max_concurrent_jobs"] == 16)
        #expect(try await patch(editor, ["max_concurrent_jobs": 1]).json["max_concurrent_jobs"] == 1)
    }

    @Test func auditAndLogSayWhoChangedWhatFromWhatToWhat() async throws {
        let scene = try await Scene(.init(token: "first"))
        let token = try await scene.api.createToken("sessions", ("name", "editor"))
        let editor = scene.api.with(token: token["token"].string)
        _ = try await patch(editor, ["max_concurrent_jobs": 4, "max_connections_per_host": 6])
        // Nothing changes.
        _ = try await patch(editor, ["max_concurrent_jobs": 4])
        _ = try await patch(scene.api, ["max_concurrent_jobs": nil])
        let entries = (try await scene.api.get("/v1/audit").json["entries"].arrayValue ?? []).dropFirst()
        let told = entries.map { entry in
            ["name", "caller", "action", "target", "change"].map { entry[$0].string ?? "-" }.joined(separator: ", ")
        }
        let id = token["id"].string ?? ""
        #expect(
            told == [
                "editor, \(id), PATCH /v1/service, max_concurrent_jobs, 16 -> 4",
                "editor, \(id), PATCH /v1/service, max_connections_per_host, 6 -> 6",
                "-, FETCHD_TOKEN, PATCH /v1/service, max_concurrent_jobs, 4 -> 16",
            ])
        #expect(scene.fetchd.log.contains("editor at 127.0.0.1 has changed max_concurrent_jobs: 16 -> 4"))
        #expect(scene.fetchd.log.contains("FETCHD_TOKEN at 127.0.0.1 has changed max_concurrent_jobs: 4 -> 16"))
    }

    // MARK: Effects

    @Test func moreJobsRunAtOnceAsSoonAsTheyMay() async throws {
        let scene = try await Scene(.init { $0.start.values.maxConcurrentJobs = 1 })
        let first = try await scene.api.submit(scene.order("/held"))
        try await scene.api.waitForBytes(first)
        let second = try await scene.api.submit(scene.order("/file"))
        #expect(try await scene.api.job(second)["state"] == "queued")
        _ = try await patch(scene.api, ["max_concurrent_jobs": 2])
        try await scene.api.waitForJob(second, .succeeded)
        // Fewer jobs: the running one continues, and no other begins.
        _ = try await patch(scene.api, ["max_concurrent_jobs": 1])
        let third = try await scene.api.submit(scene.order("/file"))
        scene.gate.open()
        try await scene.api.waitForJob(first, .succeeded)
        try await scene.api.waitForJob(third, .succeeded)
    }

    @Test func moreConnectionsToAHostLetItsQueuedJobBegin() async throws {
        let scene = try await Scene(.init { $0.start.values.maxConnectionsPerHost = 1 })
        try await scene.api.waitForBytes(scene.api.submit(scene.order("/held")))
        let second = try await scene.api.submit(scene.order("/file"))
        #expect(try await scene.api.job(second)["state"] == "queued")
        _ = try await patch(scene.api, ["max_connections_per_host": 2])
        try await scene.api.waitForJob(second, .succeeded)
    }

    @Test func deniedNetworkAppliesToTheNextRequest() async throws {
        let scene = try await Scene()
        try await scene.api.waitForJob(scene.api.submit(scene.order("/file")), .succeeded)
        for change in [
            ["deny_network": ["127.0.0.0/8"]], ["allow_network": []], ["deny_origin_host": ["127.0.0.1"]],
            ["allow_origin_port": ["1"]],
        ] as [JSON] {
            #expect(try await patch(scene.api, change).status == 200)
            let refused = try await scene.api.submit(scene.order("/file"))
            try await scene.api.waitForJob(refused, .failed)
            #expect(try await scene.api.job(refused)["failure"]["code"] == "blocked_address", "\(change)")
            let names = change.objectValue?.names ?? []
            for name in names { _ = try await patch(scene.api, .object([name: nil])) }
            try await scene.api.waitForJob(scene.api.submit(scene.order("/file")), .succeeded)
        }
    }

    @Test func rateLimitAppliesToARunningTransfer() async throws {
        let scene = try await Scene(.init { $0.start.values.rateLimit = 1 })
        let job = try await scene.api.submit(scene.order("/file"))
        try await scene.api.waitForJob(job, .running)
        _ = try await patch(scene.api, ["rate_limit_bytes_per_second": 0])
        try await scene.api.waitForJob(job, .succeeded)
    }

    @Test func sizeOfFilesAppliesToTheNextAttempt() async throws {
        let scene = try await Scene()
        _ = try await patch(scene.api, ["max_file_size": 10])
        let refused = try await scene.api.submit(scene.order("/file"))
        try await scene.api.waitForJob(refused, .failed)
        #expect(try await scene.api.job(refused)["failure"]["code"] == "too_large")
        _ = try await patch(scene.api, ["max_file_size": nil])
        _ = try await scene.api.send("POST", "/v1/jobs/\(refused)/retry")
        try await scene.api.waitForJob(refused, .succeeded)
    }

    @Test func freeSpaceAppliesToTheNextAttempt() async throws {
        let scene = try await Scene()
        _ = try await patch(scene.api, ["minimum_free_bytes": 1_152_921_504_606_846_976])
        let job = try await scene.api.submit(scene.order("/file"))
        try await scene.api.waitForJob(job, .waiting)
        #expect(try await scene.api.job(job)["reason"] == "space")
        _ = try await patch(scene.api, ["minimum_free_bytes": 0])
        _ = try await scene.api.send("POST", "/v1/jobs/\(job)/resume")
        try await scene.api.waitForJob(job, .succeeded)
    }

    @Test func fewerPartsRemoveTheOldestAtOnce() async throws {
        let scene = try await Scene()
        let job = try await scene.api.submit(scene.order("/held"))
        try await scene.api.waitForBytes(job)
        _ = try await scene.api.send("POST", "/v1/jobs/\(job)/pause")
        #expect(try await scene.api.get("/v1/jobs/\(job)/resume-data").status == 200)
        _ = try await patch(scene.api, ["max_parts": 0])
        _ = try await eventually("no resume data") {
            try await scene.api.get("/v1/jobs/\(job)/resume-data").status == 404 ? true : nil
        }
    }

    @Test func retentionOfEndedJobsAppliesAtOnce() async throws {
        let time = ManualTime()
        let scene = try await Scene(.init { $0.time = time })
        let job = try await scene.api.submit(scene.order("/file"))
        try await scene.api.waitForJob(job, .succeeded)
        // In the first hour after a start nothing is removed because of its age.
        time.advance(by: 10_000)
        _ = try await patch(
            scene.api, ["finished_retention": 60, "unacknowledged_retention": 60, "event_retention": 60])
        _ = try await eventually("the removal of the job") {
            try await scene.api.get("/v1/jobs/\(job)").status == 404 ? true : nil
        }
    }

    // MARK: Schedule

    /// Monday 2026-11-23, 07:59 UTC.
    private static let monday = Date(milliseconds: 1_795_420_740_000)

    @Test func scheduleChangesTheLimitsAtItsTimesWithoutPolling() async throws {
        let time = ManualTime(Self.monday)
        let scene = try await Scene(.init { $0.time = time })
        let answer = try await patch(
            scene.api, ["schedule": ["daily 08:00-18:00 UTC rate_limit_bytes_per_second=1Mi max_concurrent_jobs=0"]])
        #expect(
            answer.json["effective"] == [
                "rate_limit_bytes_per_second": 0, "max_concurrent_jobs": 16, "until": "2026-11-23T08:00:00.000Z",
            ])
        let boundary = Self.monday.addingTimeInterval(60)
        _ = try await eventually("a sleeper at the boundary") { time.deadlines.contains(boundary) ? true : nil }
        time.advance(by: 60)
        _ = try await eventually("the limits of the day") {
            try await service(scene.api)["effective"] == [
                "rate_limit_bytes_per_second": 1_048_576, "max_concurrent_jobs": 0,
                "until": "2026-11-23T18:00:00.000Z",
            ] ? true : nil
        }
        #expect(
            scene.fetchd.log.contains("The schedule sets 1048576 bytes per second and at most 0 running jobs until"))
        let job = try await scene.api.submit(scene.order("/file"))
        #expect(try await scene.api.job(job)["state"] == "queued")
        time.advance(by: 36_000)
        try await scene.api.waitForJob(job, .succeeded)
        // The setting itself has not changed.
        #expect(try await service(scene.api)["max_concurrent_jobs"] == 16)
    }

    @Test func scheduleFollowsAJumpOfTheClock() async throws {
        let time = ManualTime(Self.monday)
        let scene = try await Scene(
            .init {
                $0.time = time
                $0.start.values.schedule = Schedule([try! ScheduleRule("daily 08:00-18:00 UTC max_concurrent_jobs=2")])
            })
        time.jump(by: 7200)
        time.advance(by: 5)
        _ = try await eventually("the limits after the jump") {
            try await service(scene.api)["effective"]["max_concurrent_jobs"] == 2 ? true : nil
        }
        #expect(try await scene.api.get("/v1/stats").json["slots"]["max"] == 2)
    }
}
