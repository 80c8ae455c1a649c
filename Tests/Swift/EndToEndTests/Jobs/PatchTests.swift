import Downloads
import Formats
import Foundation
import TestKit
import Testing

/// `PATCH /v1/jobs/{id}`: a merge patch (RFC 7396) of a job's specification.
@Suite struct PatchTests {
    @Test func patchesEveryField() async throws {
        let scene = try await Scene()
        let id = try await scene.pausedJob(("metadata", ["a": 1]))
        let revision = try #require(try await scene.api.job(id)["revision"].integer)
        let changes: JSON = [
            "url": .string(scene.origin.url("/file?signature=2")), "headers": ["X-Album": "12"],
            "credentials": ["type": "bearer", "token": "t"], "priority": "high",
            "rate_limit_bytes_per_second": 1_000_000_000, "connections": 1, "metadata": ["b": 2],
            "not_before": "2019-08-19T15:23:14Z", "deadline": "2999-08-19T15:23:14.5Z",
            "wait_for": ["url", "credentials"],
            "destination": [
                "location": "default", "directory": "a", "filename": "b.bin", "on_conflict": "error",
                "create_directories": true, "staging": "whole",
            ],
        ]
        let job = try await scene.api.change(id, changes)
        #expect(job["revision"].integer == revision + 1)
        #expect(job["state"] == "paused")
        for name in ["url", "priority", "destination"] { #expect(job[name] == changes[name], "\(name)") }
        #expect(job["metadata"] == ["a": 1, "b": 2])
        #expect(job["not_before"] == "2019-08-19T15:23:14.000Z")
        #expect(job["deadline"] == "2999-08-19T15:23:14.500Z")
        #expect(try await scene.api.job(id) == job)

        try await scene.api.act(.resume, on: id)
        #expect(try await scene.api.waitForJob(id, .succeeded)["file"]["path"] == "a/b.bin")
        let request = try #require(scene.origin.requests(to: "/file").first)
        #expect(request.target == "/file?signature=2")
        #expect(request.header("X-Album") == "12")
        #expect(request.header("Authorization") == "Bearer t")
    }

    @Test func removesFieldsWithNullAndMergesObjects() async throws {
        let scene = try await Scene()
        let id = try await scene.pausedJob(
            ("metadata", ["keep": 1, "drop": 2, "deep": ["keep": [1, 2], "drop": true]]),
            ("headers", ["X-Keep": "1", "X-Drop": "2"]), ("priority", "low"), ("deadline", "2999-01-01T00:00:00Z"),
            ("destination", ["directory": "a", "filename": "b"]))
        let job = try await scene.api.change(
            id,
            [
                "metadata": ["drop": nil, "deep": ["drop": nil, "new": [3]], "new": 4],
                "headers": ["x-drop": nil, "X-New": "3"], "priority": nil, "deadline": nil, "not_before": nil,
                "credentials": nil, "wait_for": nil, "rate_limit_bytes_per_second": nil,
                "destination": ["filename": nil, "on_conflict": "replace"],
            ])
        #expect(job["metadata"] == ["keep": 1, "deep": ["keep": [1, 2], "new": [3]], "new": 4])
        #expect(job["priority"] == "normal")
        #expect(job["deadline"] == .null)
        #expect(
            job["destination"]
                == [
                    "location": nil, "directory": "a", "filename": nil, "on_conflict": "replace",
                    "create_directories": true, "staging": nil,
                ])
        try await scene.api.act(.resume, on: id)
        scene.gate.open()
        #expect(try await scene.api.waitForJob(id, .succeeded)["file"]["path"] == "a/held")
        let headers = try #require(scene.origin.requests(to: "/held").last?.headers).map(\.name)
        #expect(headers.contains("X-Keep") && headers.contains("X-New") && !headers.contains("X-Drop"))

        // A whole object can be removed, and a list is replaced.
        let emptied = try await scene.api.change(id, ["metadata": nil])
        #expect(emptied["metadata"] == [:])
        #expect(try await scene.api.change(id, ["metadata": ["l": [1, 2]]])["metadata"] == ["l": [1, 2]])
        #expect(try await scene.api.change(id, ["metadata": ["l": [3]]])["metadata"] == ["l": [3]])
    }

    @Test func answers415UnlessContentTypeIsJSON() async throws {
        let scene = try await Scene()
        let id = try await scene.job(in: .paused)
        let path = "/v1/jobs/\(id)"
        for type in ["application/merge-patch+json", "application/json", "Application/Merge-Patch+JSON; charset=utf-8"]
        {
            let answer = try await scene.api.send(
                "PATCH", path, ["metadata": ["type": .string(type)]], headers: [("Content-Type", type)])
            #expect(answer.status == 200, "\(type)")
            #expect(answer.json["metadata"]["type"].string == type)
        }
        for type in ["application/json-patch+json", "text/plain", ""] {
            let answer = try await scene.api.send("PATCH", path, ["metadata": [:]], headers: [("Content-Type", type)])
            #expect(answer.status == 415, "\(type)")
            #expect(answer.problem == .init(kind: "unsupported-media-type"))
        }
        // The content type of a merge patch is valid for PATCH only.
        let posted = try await scene.api.send(
            "POST", "/v1/jobs", scene.order(), headers: [("Content-Type", "application/merge-patch+json")])
        #expect(posted.status == 415)
        for (body, kind, status) in [("{", "malformed-json", 400), ("[]", "invalid-value", 422)] {
            let answer = try await scene.api.send("PATCH", path, bytes: Array(body.utf8))
            #expect(answer.status == status)
            #expect(answer.problem?.kind == kind)
        }
        #expect(try await scene.api.send("PATCH", "/v1/jobs/job_unknown", ["metadata": [:]]).status == 404)
    }

    @Test func answers422WithPointerAndChangesNothing() async throws {
        let scene = try await Scene()
        let id = try await scene.job(in: .paused)
        let before = try await scene.api.job(id)
        let refusals: [Refusal] = [
            .invalid(["url": nil], "/url"), .invalid(["url": "ftp://host/"], "/url"), .invalid(["url": 1], "/url"),
            .invalid(["headers": ["Range": "bytes=0-"]], "/headers/Range"), .invalid(["headers": "a"], "/headers"),
            .invalid(["credentials": ["type": "ntlm"]], "/credentials/type"),
            .init(["credentials": ["username": "me"]], "missing-field", "/credentials/type"),
            .invalid(["priority": "urgent"], "/priority"), .invalid(["connections": 17], "/connections"),
            .invalid(["rate_limit_bytes_per_second": 0], "/rate_limit_bytes_per_second"),
            .invalid(["metadata": []], "/metadata"),
            .invalid(["metadata": ["a": .string(String(repeating: "a", count: 8192))]], "/metadata"),
            .invalid(["not_before": "soon"], "/not_before"), .invalid(["deadline": 5], "/deadline"),
            .invalid(["wait_for": ["sleep"]], "/wait_for"),
            .invalid(["destination": ["filename": "../b"]], "/destination/filename"),
            .invalid(["destination": ["directory": "/etc"]], "/destination/directory"),
            .invalid(["destination": ["on_conflict": "ask"]], "/destination/on_conflict"),
            .unknown(["destination": ["folder": "a"]], "/destination/folder"),
            // Removing an unknown member is an error too.
            .unknown(["destination": ["folder": nil]], "/destination/folder"), .unknown(["tags": nil], "/tags"),
            .unknown(["credentials": ["type": "bearer", "token": "t", "tokn": nil]], "/credentials/tokn"),
            .unknown(["tags": ["a"]], "/tags"), .unknown(["session": "default"], "/session"),
            .unknown(["method": "POST"], "/method"), .unknown(["state": "queued"], "/state"),
        ]
        for refusal in refusals {
            // A valid member beside it is not applied either.
            let answer = try await scene.api.patch(id, JSON.object(["metadata": ["n": 1]]).with(refusal.members))
            #expect(answer.status == 422, "\(refusal.members)")
            #expect(answer.problem == refusal.problem, "\(answer)")
        }
        #expect(try await scene.api.job(id) == before)
    }

    @Test func acceptsOnlyMetadataForSucceededJob() async throws {
        let scene = try await Scene()
        let id = try await scene.job(in: .succeeded)
        let before = try await scene.api.job(id)
        let changes: [JSON] = [
            ["url": "http://127.0.0.1/"], ["headers": [:]], ["credentials": nil], ["priority": "low"],
            ["rate_limit_bytes_per_second": 5], ["connections": 1], ["not_before": nil],
            ["deadline": "2999-01-01T00:00:00Z"], ["wait_for": []], ["destination": ["filename": "x"]],
            ["metadata": ["n": 1], "destination": ["filename": "x"]],
        ]
        for change in changes {
            let answer = try await scene.api.patch(id, change)
            #expect(answer.status == 409, "\(change.written)")
            #expect(answer.problem == .init(kind: "state-conflict"))
        }
        #expect(try await scene.api.job(id) == before)
        #expect(try await scene.api.change(id, ["metadata": ["n": 1]])["metadata"] == ["n": 1])
    }

    /// A patch of a failed or cancelled job applies to its next run.
    @Test(arguments: [JobState.Kind.failed, .cancelled])
    func appliesPatchOfEndedJobToLaterRetry(_ state: JobState.Kind) async throws {
        let scene = try await Scene()
        let id = try await scene.job(in: state)
        let job = try await scene.api.change(
            id,
            [
                "url": .string(scene.origin.url("/file")), "destination": ["filename": "later.bin"],
                "headers": ["X-Run": "2"], "metadata": ["n": 1], "priority": "low",
            ])
        #expect(job["state"].string == state.rawValue)
        #expect(try await scene.api.types(of: id).last == "job.\(state.rawValue)")
        try await scene.api.act(.retry, on: id)
        #expect(try await scene.api.waitForJob(id, .succeeded)["file"]["path"] == "later.bin")
        #expect(scene.origin.requests(to: "/file").first?.header("X-Run") == "2")
    }

    @Test func movesRunningJobToPatchedDestination() async throws {
        let scene = try await Scene()
        let id = try await scene.heldJob(("destination", ["filename": "before.bin"]))
        let job = try await scene.api.change(id, ["destination": ["directory": "other", "filename": "after.bin"]])
        #expect(job["state"] == "running")
        scene.gate.open()
        #expect(try await scene.api.waitForJob(id, .succeeded)["file"]["path"] == "other/after.bin")
        #expect(scene.fetchd.downloaded("other/after.bin") == scene.bytes)
        #expect(scene.fetchd.downloaded("before.bin") == nil)
        #expect(scene.origin.requests(to: "/held").count == 1)
    }

    /// The patch is answered 200 or 409, and the file is where that answer says.
    @Test func placesFileAtPatchedDestinationOnlyIfPatchWasAccepted() async throws {
        let scene = try await Scene(
            .init {
                $0.start.values.maxConcurrentJobs = 40
                $0.start.values.maxConnectionsPerHost = 40
            })
        scene.origin.serve("/f", .file(scene.bytes), .waiting(at: 199_999, for: scene.gate))
        let ids = try await scene.api.submit(
            all: (0..<40).map { scene.order("/f", ("destination", ["filename": .string("\($0)-before")])) })
        await scene.gate.reached(by: 40)
        let api = scene.api
        let taken = try await withThrowingTaskGroup(of: (Int, Int).self) { group in
            for (index, id) in ids.enumerated() {
                if index == 5 { scene.gate.open() }
                group.addTask {
                    (index, try await api.patch(id, ["destination": ["filename": .string("\(index)-after")]]).status)
                }
            }
            return try await group.reduce(into: [Int: Int]()) { $0[$1.0] = $1.1 }
        }
        for (index, id) in ids.enumerated() {
            let status = try #require(taken[index])
            #expect([200, 409].contains(status))
            let job = try await api.waitForJob(id, .succeeded)
            let name = "\(index)-\(status == 200 ? "after" : "before")"
            #expect(job["file"]["path"].string == name)
            #expect(job["destination"]["filename"].string == name)
            #expect(scene.fetchd.downloaded(name) == scene.bytes)
        }
    }

    @Test func keepsAllConcurrentPatches() async throws {
        let scene = try await Scene()
        let id = try await scene.job(in: .paused)
        let api = scene.api
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask { try await api.change(id, ["metadata": .object(["m\(number)": .count(number)].json)]) }
            }
            try await group.waitForAll()
        }
        #expect(try await api.job(id)["metadata"].count == 20)
    }
}

extension [String: JSON] {
    fileprivate var json: JSONObject { reduce(into: JSONObject()) { $0[$1.key] = $1.value } }
}
