import Formats
import HTTPSemantics
import TestKit
import Testing

/// `traceparent` of a request reaches the job, its webhooks, the log and, if asked, the origin.
@Suite struct TraceTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let parent = "00-\(trace)-00f067aa0ba902b7-01"

    private func submit(_ scene: Scene, _ path: String = "/file", _ fields: (String, String)...) async throws -> JSON {
        let answer = try await scene.api.send(
            "POST", "/v1/jobs", scene.order(path), headers: fields.map { (name: $0.0, value: $0.1) })
        guard answer.status == 201 else { throw Overdue("a job: \(answer)") }
        return answer.json
    }

    @Test func keepsTheTraceWithTheJobAndSendsItToWebhooks() async throws {
        let scene = try await Scene.delivering()
        let receiver = try WebhookReceiver()
        _ = try await scene.api.declareWebhook(url: receiver.url, events: ["job.*", "session.*"])
        let job = try await submit(scene, "/file", ("traceparent", Self.parent), ("tracestate", "rojo=1, congo=2"))
        #expect(job["traceparent"].string == Self.parent)
        let id = try #require(job["id"].string)
        try await scene.api.waitForJob(id, .succeeded)
        let finish = try await receiver.waitFor("session.finished")
        let posts = receiver.received
        #expect(posts.count >= 4)
        let parents = posts.compactMap { $0.request.header("traceparent").flatMap { TraceContext(parent: $0) } }
        #expect(parents.count == posts.count)
        // One trace, and an identifier of its own for each post.
        #expect(parents.allSatisfy { $0.traceID == Self.trace && $0.flags == "01" })
        #expect(
            Set(parents.map(\.parentID)).count == posts.count && !parents.map(\.parentID).contains("00f067aa0ba902b7"))
        #expect(finish.request.header("tracestate") == "rojo=1,congo=2")
        let snapshot = try #require(posts.first { $0.type == "job.succeeded" })
        #expect(try JSON(parsing: snapshot.bytes)["data"]["snapshot"]["traceparent"].string == Self.parent)
        // No origin learns of it without --trace-origins.
        #expect(scene.origin.requests(to: "/file").allSatisfy { $0.header("traceparent") == nil })
    }

    @Test func keepsTheTraceThroughARestart() async throws {
        let service = try await LocalService.start()
        let origin = try Origin()
        origin.serve("/file", .file([1, 2, 3]))
        let body: JSON = ["url": .string(origin.url("/file")), "not_before": "2100-01-01T00:00:00Z"]
        let answer = try await service.api.send(
            "POST", "/v1/jobs/batch", ["jobs": [body, body]],
            headers: [("traceparent", Self.parent), ("tracestate", "a=b")])
        let ids = (answer.json["jobs"].arrayValue ?? []).compactMap { $0["id"].string }
        #expect(ids.count == 2)
        try await service.restart()
        for id in ids { #expect(try await service.api.job(id)["traceparent"].string == Self.parent) }
        try await service.stop()
    }

    @Test(
        arguments: [
            [], [("traceparent", "00-0-0-0")], [("traceparent", parent.uppercased())],
            [("traceparent", parent), ("traceparent", parent)], [("tracestate", "a=b")],
        ] as [[(String, String)]])
    func ignoresARequestWithoutAValidTrace(_ fields: [(String, String)]) async throws {
        let scene = try await Scene.delivering()
        let receiver = try WebhookReceiver()
        _ = try await scene.api.declareWebhook(url: receiver.url, events: ["job.succeeded"])
        let answer = try await scene.api.send(
            "POST", "/v1/jobs", scene.order(), headers: fields.map { (name: $0.0, value: $0.1) })
        #expect(answer.status == 201 && answer.json["traceparent"] == .null)
        let post = try await receiver.waitFor("job.succeeded")
        #expect(post.request.header("traceparent") == nil && post.request.header("tracestate") == nil)
    }

    @Test func sendsTheTraceToTheOriginIfAsked() async throws {
        let other = try Origin()
        other.serve("/elsewhere", .file([1, 2, 3]))
        let scene = try await Scene(.init { $0.engine.tracesOrigins = true })
        scene.origin.serve("/moved", .redirect(to: other.url("/elsewhere")))
        let job = try await submit(scene, "/moved", ("traceparent", Self.parent), ("tracestate", "a=b"))
        try await scene.api.waitForJob(try #require(job["id"].string), .succeeded)
        let sent = try #require(scene.origin.requests(to: "/moved").first)
        let context = try #require(sent.header("traceparent").flatMap { TraceContext(parent: $0) })
        #expect(context.traceID == Self.trace && context.parentID != "00f067aa0ba902b7")
        #expect(sent.header("tracestate") == "a=b")
        // As other fields of the job, it stays with the job's own origin.
        #expect(other.requests(to: "/elsewhere").first?.header("traceparent") == nil)
    }

    @Test func theJobsOwnHeadersTakePrecedence() async throws {
        let scene = try await Scene(.init { $0.engine.tracesOrigins = true })
        let own = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
        let answer = try await scene.api.send(
            "POST", "/v1/jobs", scene.order("/file", ("headers", ["Traceparent": .string(own)])),
            headers: [("traceparent", Self.parent)])
        try await scene.api.waitForJob(try #require(answer.json["id"].string), .succeeded)
        #expect(scene.origin.requests(to: "/file").map { $0.header("traceparent") } == [own])
    }
}
