import Downloads
import Formats
import Foundation
import TestKit
import Testing

/// Which callers may send which requests: every operation of openapi.yaml with every kind of caller.
@Suite struct PermissionTests {
    /// An operation, with a request that changes nothing: it fails for a reason that is not the caller.
    struct Operation: Sendable, CustomStringConvertible {
        var method: String
        /// As in openapi.yaml.
        var path: String
        /// The smallest scope; nil: no token is needed.
        var scope: Scope?
        /// Whether callers that are bound to sessions are refused.
        var isOfService = false
        var body: JSON?

        var description: String { "\(method) \(path)" }
    }

    private static let operations: [Operation] =
        [
            .init(method: "GET", path: "/livez"), .init(method: "GET", path: "/readyz"),
            .init(method: "GET", path: "/openapi.yaml"), .init(method: "GET", path: "/"),
            .init(method: "GET", path: "/dashboard/{version}/{file}"), .init(method: "GET", path: "/client.js"),
            .init(method: "GET", path: "/metrics", scope: .read, isOfService: true),
            .init(method: "GET", path: "/v1/stats", scope: .read, isOfService: true),
            .init(method: "GET", path: "/v1/throughput", scope: .read, isOfService: true),
            .init(method: "GET", path: "/v1/events", scope: .read),
            .init(method: "GET", path: "/v1/webhooks", scope: .read),
            .init(method: "GET", path: "/v1/consumers", scope: .read),
            .init(method: "PUT", path: "/v1/consumers/{consumer}", scope: .sessions, body: ["unknown": 1]),
            .init(method: "DELETE", path: "/v1/consumers/{consumer}", scope: .sessions),
            .init(method: "GET", path: "/v1/consumers/{consumer}/events", scope: .jobs),
            .init(
                method: "POST", path: "/v1/consumers/{consumer}/acknowledge", scope: .jobs, body: ["through": 0]),
            .init(method: "GET", path: "/v1/deliveries/{id}", scope: .read),
            .init(method: "POST", path: "/v1/deliveries/{id}/redeliver", scope: .sessions),
            .init(method: "GET", path: "/v1/webhook-keys"),
            .init(method: "POST", path: "/v1/webhook-keys/rotate", scope: .admin, isOfService: true),
            .init(method: "GET", path: "/v1/sign-in", scope: .read),
            .init(method: "POST", path: "/v1/sign-in", scope: .read, body: ["unknown": 1]),
            .init(method: "DELETE", path: "/v1/sign-in"), .init(method: "POST", path: "/v1/tickets", scope: .read),
        ] + sessions + jobs + tokens

    private static let sessions: [Operation] = [
        .init(method: "GET", path: "/v1/sessions", scope: .read),
        .init(method: "PUT", path: "/v1/sessions/{session}", scope: .sessions, body: ["unknown": 1]),
        .init(method: "GET", path: "/v1/sessions/{session}", scope: .read),
        .init(method: "PATCH", path: "/v1/sessions/{session}", scope: .sessions, body: ["unknown": 1]),
        .init(method: "DELETE", path: "/v1/sessions/{session}", scope: .sessions),
        .init(method: "POST", path: "/v1/sessions/{session}/pause", scope: .sessions),
        .init(method: "POST", path: "/v1/sessions/{session}/resume", scope: .sessions),
        .init(method: "POST", path: "/v1/sessions/{session}/cancel", scope: .sessions),
        .init(method: "GET", path: "/v1/sessions/{session}/manifest", scope: .read),
        .init(method: "POST", path: "/v1/sessions/{session}/acknowledge", scope: .sessions, body: ["through": 0]),
        .init(method: "GET", path: "/v1/sessions/{session}/webhooks", scope: .read),
        .init(method: "PUT", path: "/v1/sessions/{session}/webhooks/{webhook}", scope: .sessions, body: [:]),
        .init(method: "GET", path: "/v1/sessions/{session}/webhooks/{webhook}", scope: .read),
        .init(method: "DELETE", path: "/v1/sessions/{session}/webhooks/{webhook}", scope: .sessions),
        .init(method: "POST", path: "/v1/sessions/{session}/webhooks/{webhook}/test", scope: .sessions),
        .init(method: "POST", path: "/v1/sessions/{session}/webhooks/{webhook}/rotate-secret", scope: .sessions),
        .init(
            method: "POST", path: "/v1/sessions/{session}/webhooks/{webhook}/recover", scope: .sessions,
            body: ["after": 0]),
        .init(method: "POST", path: "/v1/sessions/{session}/webhooks/{webhook}/enable", scope: .sessions),
        .init(method: "GET", path: "/v1/sessions/{session}/webhooks/{webhook}/deliveries", scope: .read),
    ]

    private static let jobs: [Operation] =
        [
            .init(method: "POST", path: "/v1/jobs", scope: .jobs, body: [:]),
            .init(method: "GET", path: "/v1/jobs", scope: .read),
            .init(method: "POST", path: "/v1/jobs/batch", scope: .jobs, body: [:]),
            .init(method: "POST", path: "/v1/jobs/import", scope: .jobs),
            .init(method: "GET", path: "/v1/jobs/{id}", scope: .read),
            .init(method: "PATCH", path: "/v1/jobs/{id}", scope: .jobs, body: ["priority": "low"]),
            .init(method: "DELETE", path: "/v1/jobs/{id}", scope: .jobs),
            .init(method: "GET", path: "/v1/jobs/{id}/resume-data", scope: .jobs),
            .init(method: "GET", path: "/v1/jobs/{id}/file", scope: .read),
            .init(method: "POST", path: "/v1/jobs/{id}/move", scope: .jobs, body: ["to": "top"]),
        ]
        + ["pause", "resume", "cancel", "retry"].map {
            .init(method: "POST", path: "/v1/jobs/{id}/\($0)", scope: .jobs)
        }
        + ["pause", "resume", "cancel", "retry", "change", "move", "remove"].map {
            .init(method: "POST", path: "/v1/jobs/\($0)", scope: .jobs, body: [:])
        }

    private static let tokens: [Operation] = [
        .init(method: "POST", path: "/v1/tokens", scope: .admin, isOfService: true, body: [:]),
        .init(method: "GET", path: "/v1/tokens", scope: .admin, isOfService: true),
        .init(method: "GET", path: "/v1/tokens/{id}", scope: .admin, isOfService: true),
        .init(method: "DELETE", path: "/v1/tokens/{id}", scope: .admin, isOfService: true),
        .init(method: "POST", path: "/v1/tokens/{id}/rotate", scope: .admin, isOfService: true),
        .init(method: "GET", path: "/v1/audit", scope: .admin, isOfService: true),
        .init(method: "GET", path: "/v1/hosts", scope: .read),
        .init(method: "GET", path: "/v1/locations", scope: .read),
        .init(method: "POST", path: "/v1/hosts/{host}/open", scope: .admin, isOfService: true),
        .init(method: "GET", path: "/v1/nodes", scope: .read, isOfService: true),
        .init(method: "DELETE", path: "/v1/nodes/{number}", scope: .admin, isOfService: true),
        .init(method: "GET", path: "/v1/service", scope: .read, isOfService: true),
        .init(method: "PATCH", path: "/v1/service", scope: .sessions, isOfService: true, body: ["unknown": 1]),
    ]

    /// The operations of openapi.yaml, with the scopes that it names.
    @Test func tableHasEveryOperationWithItsScope() throws {
        let text = try String(contentsOf: Project.root.appending(path: "openapi.yaml"), encoding: .utf8)
        let paths = text.prefix(upTo: try #require(text.firstRange(of: "\nwebhooks:\n")).lowerBound)
        var described: [String: String] = [:]
        var (path, operation) = ("", "")
        for line in paths.split(separator: "\n") {
            if let match = line.wholeMatch(of: #/  (\/.*):/#) { path = String(match.1) }
            if let match = line.wholeMatch(of: #/    (get|put|post|patch|delete):/#) {
                operation = "\(match.1.uppercased()) \(path)"
                described[operation] = "read"
            }
            if let match = line.wholeMatch(of: #/      x-scope: (.*)/#) { described[operation] = String(match.1) }
            if line == "      security: []" { described[operation] = "none" }
        }
        let table = Self.operations.map { ($0.description, $0.scope?.rawValue ?? "none") }
        #expect(described == Dictionary(uniqueKeysWithValues: table))
    }

    enum Refusal: String { case none, unauthorized, forbidden }

    /// Every operation, sent by every kind of caller. Requests about the session `other`, or what belongs to it.
    @Test func everyOperationChecksItsCaller() async throws {
        let scene = try await Scene(.init(token: "first"))
        let api = scene.api
        try await api.declareSession("other")
        let job = try await api.submit(scene.order("/file", ("session", "other")))
        try await api.waitForJob(job, .succeeded)
        let revoked = try await api.createToken("admin")
        _ = try await api.delete("/v1/tokens/\(revoked["id"].string ?? "")")
        var unbound: [(Scope, APIClient)] = []
        var bound: [(Scope, APIClient)] = []
        for scope in Scope.allCases {
            unbound.append((scope, try await api.caller(scope.rawValue)))
            if scope != .admin { bound.append((scope, try await api.caller(scope.rawValue, sessions: ["mine*"]))) }
        }
        for operation in Self.operations {
            func refusal(_ client: APIClient) async throws -> Refusal {
                // The job, the session and the token of the request do not exist, unless the caller is bound.
                let path = operation.path.replacing("{session}", with: "none").replacing("{webhook}", with: "none")
                    .replacing("{id}", with: "none").replacing("{consumer}", with: "none").replacing(
                        "{number}", with: "9"
                    )
                    .replacing("{host}", with: "none:1").replacing("{file}", with: "main.js")
                let answer = try await client.send(operation.method, path, operation.body)
                return answer.problem.flatMap { Refusal(rawValue: $0.kind) } ?? .none
            }
            for stranger in [nil, "wrong", revoked["token"].string] {
                #expect(
                    try await refusal(api.with(token: stranger)) == (operation.scope == nil ? .none : .unauthorized),
                    "\(operation)")
            }
            #expect(try await refusal(api) == .none, "\(operation)")
            for (scope, client) in unbound {
                let isAllowed = operation.scope.map { scope >= $0 } ?? true
                #expect(try await refusal(client) == (isAllowed ? .none : .forbidden), "\(operation) \(scope)")
            }
            for (scope, client) in bound {
                let isAllowed = operation.scope.map { scope >= $0 } ?? true
                let creates = operation.description == "PUT /v1/sessions/{session}"
                let isRefused = !isAllowed || operation.isOfService || creates
                #expect(try await refusal(client) == (isRefused ? .forbidden : .none), "\(operation) bound \(scope)")
            }
        }
    }

    /// What belongs to another session answers exactly as what does not exist.
    @Test func foreignIdentifierAnswersAsAnUnknownOne() async throws {
        let scene = try await Scene(.init(token: "first"))
        let api = scene.api
        try await api.declareSession("other")
        try await api.declareWebhook("hook", of: "other", url: scene.origin.url("/hook"))
        let delivery = try #require(
            try await api.post("/v1/sessions/other/webhooks/hook/test").json["id"].string)
        let job = try await api.submit(scene.order("/file", ("session", "other")))
        try await api.waitForJob(job, .succeeded)
        #expect(
            try await api.put("/v1/consumers/other", ["session": "other", "events": ["job.*"]]).status == 201)
        let client = try await api.caller("sessions", sessions: ["mine*", "default"])
        // The name of a consumer is not of a session.
        let creating: Set = ["PUT /v1/sessions/{session}", "PUT /v1/consumers/{consumer}"]
        for operation in Self.operations where operation.path.contains("{") && !operation.isOfService {
            guard operation.scope != nil, !creating.contains(operation.description) else { continue }
            let isOfJob = operation.path.contains("/jobs/")
            func answer(session: String, id: String) async throws -> APIAnswer {
                let path = operation.path.replacing("{session}", with: session).replacing("{consumer}", with: session)
                    .replacing("{webhook}", with: "hook").replacing("{id}", with: id)
                return try await client.send(operation.method, path, operation.body)
            }
            let foreign = try await answer(session: "other", id: isOfJob ? job : delivery)
            let unknown = try await answer(
                session: "nothing", id: isOfJob ? "job_01HZX3K9V7Q2N4R8T6W0YB5CDE" : "dlv_01HZX3K9V7Q2N4R8T6W0YB5CDG")
            #expect(foreign.status == 404, "\(operation): \(foreign)")
            let expected = unknown.text.replacing("nothing", with: "other")
                .replacing("job_01HZX3K9V7Q2N4R8T6W0YB5CDE", with: job)
                .replacing("dlv_01HZX3K9V7Q2N4R8T6W0YB5CDG", with: delivery)
            #expect(foreign.text == expected, "\(operation)")
            #expect(unknown.status == 404, "\(operation)")
        }
        // Nothing of it has changed anything.
        #expect(try await api.job(job)["state"] == "succeeded")
        #expect(try await api.session("other")["state"] == "idle")
    }
}
