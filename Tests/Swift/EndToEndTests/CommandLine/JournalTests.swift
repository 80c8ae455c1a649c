import Formats
import Foundation
import TestKit
import Testing

/// `events`, `watch`, `webhook`.
@Suite struct JournalTests {
    @Test func eventsPrintsJournalFilteredAsJSONAndText() async throws {
        let cli = try await CommandLineScene()
        let id = try await cli.scene.job(in: .succeeded)
        _ = try await cli.scene.job(in: .failed)
        // No event follows the finish.
        let events = try await eventually("the finish of the session") {
            let events = try await cli.api.events()
            return events.last?["type"] == "session.finished" ? events : nil
        }
        let all = try await cli.run("events", "--json")
        #expect(all.json["events"].arrayValue == events && all.json["next_after"] == events.last?["id"])
        #expect(try await cli.run("events", "--json", "--job", id, "--limit", "2").json["events"].count == 2)
        let lines = try await cli.run("events", "--type", "job.*", "--after", "1").lines
        #expect(lines.contains { $0.contains("job.succeeded  default \(id)  succeeded: file (195 KiB)") }, "\(lines)")
        #expect(lines.contains { $0.contains("/missing: bad_status: The server answered 404. (HTTP status 404)") })
    }

    @Test func eventsFollowsThroughRestart() async throws {
        let cli = try await CommandLineScene(.init(keepsPort: true))
        let first = try await cli.scene.job(in: .succeeded)
        let child = try await cli.start("events", "--follow", "--json", "--after", "0", "--type", "job.*")
        _ = try await eventually("the first job's events") { child.output.contains("job.succeeded") ? true : nil }
        try await cli.fetchd.kill()
        try await cli.fetchd.restart()
        let second = try await cli.scene.job(in: .failed)
        _ = try await eventually("the second job's events") { child.output.contains("job.failed") ? true : nil }
        child.signal(SIGINT)
        #expect(try await child.waitForEnd() == .exited(130))
        let told = try child.output.split(separator: "\n").map { try JSON(parsing: Array($0.utf8)) }
        let known = try await cli.api.events().filter { $0["job"] != .null }
        #expect(told == known && Set(told.map { $0["job"].string }) == [first, second])
        // Only a long restart is reported.
        let reports = child.errors.split(separator: "\n")
        #expect(reports.allSatisfy { $0.contains("is not answering") }, "\(child.errors)")
    }

    @Test func watchFollowsRetriedJobs() async throws {
        let cli = try await CommandLineScene()
        let (first, second) = (try await cli.scene.job(in: .failed), try await cli.scene.job(in: .running))
        let child = try await cli.start("watch", "--follow", "--json")
        func told(_ id: String) -> [String?] {
            child.output.split(separator: "\n").compactMap { try? JSON(parsing: Array($0.utf8)) }
                .filter { $0["id"].string == id }.map { $0["state"].string }
        }
        _ = try await eventually("the watch") { told(second) == ["running"] ? true : nil }
        #expect(try await cli.run("cancel", second).succeeded)
        _ = try await eventually("its end") { told(second).last == "cancelled" ? true : nil }
        cli.scene.gate.open()
        cli.scene.origin.serve("/missing", .file(cli.scene.bytes))
        // The first job had ended before the watch started.
        for id in [first, second] {
            #expect(try await cli.run("retry", id).succeeded)
            _ = try await eventually("the retry of \(id)") { told(id).last == "succeeded" ? true : nil }
        }
        child.signal(SIGINT)
        #expect(try await child.waitForEnd() == .exited(130) && told(first).count >= 1, "\(child.output)")
    }

    @Test func eventsFailsWhenStreamIsNotFetchd() async throws {
        let (cli, front) = (try await CommandLineScene(), try Origin())
        let event = Array("id: 7\nevent: job.failed\ndata: {\"id\": \"seven\"}\n\n".utf8)
        front.serve("/v1/stats", .fixed(body: try await cli.api.get("/v1/stats").body))
        front.serve("/v1/events", .fixed(headers: [("Content-Type", "text/event-stream")], body: event))
        let outcome = try await cli.run("events", "--follow", environment: ["FETCHD_URL": front.url("")])
        #expect(outcome.ending == .exited(76) && outcome.errors.contains("is not fetchd"), "\(outcome)")
    }

    @Test func failsForUnknownSession() async throws {
        let cli = try await CommandLineScene()
        for command in [["list"], ["events"], ["events", "--follow"], ["watch"]] {
            let outcome = try await cli.run(command + ["--session", "nope"])
            #expect(
                outcome.ending == .exited(66) && outcome.errors.contains("no session nope"), "\(command): \(outcome)")
        }
    }

    @Test func watchPrintsJSONLines() async throws {
        let cli = try await CommandLineScene()
        let id = try await cli.scene.job(in: .running)
        let child = try await cli.start("watch", "--json")
        _ = try await eventually("the job as it is") { child.output.contains("\n") ? true : nil }
        cli.scene.gate.open()
        #expect(try await child.waitForEnd() == .exited(0), "\(child.errors)")
        let documents = try child.output.split(separator: "\n").map { try JSON(parsing: Array($0.utf8)) }
        #expect(
            documents.map { $0["state"] } == ["running", "succeeded"] && documents.allSatisfy { $0["id"].string == id })
        #expect(documents.last == (try await cli.api.job(id)) && child.errors.isEmpty)
    }

    /// `watch --session` includes jobs that are added later, and does not wait for deleted ones.
    @Test func watchesJobsAddedAndDeletedInSession() async throws {
        let cli = try await CommandLineScene()
        let idle = try await cli.run("watch")
        #expect(idle.succeeded && idle.errors.contains("There are no unfinished downloads."))
        let held = try await cli.scene.job(in: .running)
        let child = try await cli.start("watch", "--session", "default")
        _ = try await eventually("the watch") { child.errors.contains("\(held) running") ? true : nil }
        let failed = try await cli.scene.job(in: .failed)
        _ = try await eventually("the failed job to be reported") {
            child.errors.contains("\(failed) failed: \(cli.url("/missing")): bad_status") ? true : nil
        }
        #expect(try await cli.run("delete", held).succeeded)
        #expect(try await child.waitForEnd() == .exited(1))
        #expect(child.errors.contains("\(held) cancelled") || child.errors.contains("\(held) was deleted"))
    }

    /// The journal answers `reset`, so the command reads the job's state again.
    @Test func watchReadsJobAgainAfterReset() async throws {
        let (cli, front) = (try await CommandLineScene(), try Origin())
        let id = try await cli.scene.job(in: .succeeded)
        let done = try await cli.api.job(id)
        let before = done.written.replacing("\"state\":\"succeeded\"", with: "\"state\":\"running\"")
        let stats = try await cli.api.get("/v1/stats")
        front.serve("/v1/stats", .fixed(body: stats.body))
        front.serve("/v1/jobs/\(id)", .fixed(body: Array(before.utf8)), .serving(.fixed(body: done.bytes)).on(2...))
        let reset = "retry: 2000\nid: 99\nevent: reset\ndata: {\"first_available\":100}\n\n"
        front.serve("/v1/events", .fixed(headers: [("Content-Type", "text/event-stream")], body: Array(reset.utf8)))
        let watched = try await cli.run("watch", id, environment: ["FETCHD_URL": front.url("")])
        #expect(watched.succeeded && watched.errors.contains("\(id) succeeded: file"), "\(watched)")
        let asked = try #require(front.requests(to: "/v1/events").first)
        #expect(
            asked.header("Last-Event-ID") == stats.json["last_event"].written && asked.target.hasSuffix("?job=\(id)"))
    }

    /// The headers come from an option and from a file; no output has their values.
    @Test func declaresAndShowsEndpoints() async throws {
        let (cli, receiver) = (try await CommandLineScene(), try WebhookReceiver())
        try cli.folder.write("Authorization: Bearer 9f2c9f2c\nX-Empty:\n", to: "headers")
        let certificate = try await Certificate.selfSigned()
        let pin = "NvtdKMnNMLVfXi0+RhYTUyvJpQMAXpSvZhNzA2BCmFk="
        let set = try await cli.run(
            "webhook", "set", "me", receiver.url, "-H", "X-Tenant: films", "--header-file", "headers",
            "--endpoint-ca-file", certificate.path, "--endpoint-pin", pin)
        #expect(set.succeeded && set.output.contains("Authorization, X-Empty, X-Tenant"), "\(set)")
        #expect(set.output.contains("\(certificate.path), 1 pinned key"))
        let declared = try await cli.api.get("/v1/sessions/default/webhooks/me").json
        #expect(declared["tls"]["pinned_public_keys"] == ["127.0.0.1": [.string(pin)]])
        _ = try await cli.run("webhook", "test", "me")
        let posted = try await receiver.waitFor("webhook.test")
        #expect(posted.request.header("Authorization") == "Bearer 9f2c9f2c")
        let show = try await eventually("the attempt to be counted") {
            let show = try await cli.run("webhook", "show", "me")
            return show.output.contains("1 in the last day, 100% accepted") ? show : nil
        }
        #expect(show.output.contains("median ") && !show.output.contains("9f2c"))
        #expect(try await cli.run("webhook", "list").lines.last?.contains("100%") == true)
        try cli.folder.write("no header", to: "headers")
        let refused = try await cli.run("webhook", "set", "me", receiver.url, "--header-file", "headers")
        #expect(!refused.succeeded && refused.errors.contains("Every line of headers must be a header"))
    }

    @Test func saysWhatAHeldBackFinishWaitsFor() async throws {
        let (cli, receiver) = (try await CommandLineScene(), try WebhookReceiver())
        receiver.refuse("job.succeeded")
        try await cli.api.declareSession("default", ["finish_delay_seconds": 0])
        try await cli.api.declareWebhook("me", url: receiver.url, events: ["job.succeeded", "session.finished"])
        _ = try await cli.scene.job(in: .succeeded)
        let finish = try await cli.api.waitForDelivery(of: "session.finished", to: "me", toBe: .pending)
        let blocker = try await cli.api.deliveries(to: "me")[1]["id"].string ?? ""
        #expect(finish["blocked_by"].string == blocker && finish["next_attempt_at"] == .null)
        let list = try await cli.run("webhook", "deliveries", "me")
        #expect(list.lines[1].contains("waits for \(blocker)"), "\(list.output)")
        let show = try await cli.run("webhook", "delivery", finish["id"].string ?? "")
        #expect(show.output.contains("fetchd webhook delivery \(blocker)"), "\(show.output)")
    }

    @Test func managesWebhooks() async throws {
        let (cli, receiver) = (try await CommandLineScene(), try WebhookReceiver())
        let none = try await cli.run("webhook", "list")
        #expect(none.succeeded && none.errors.contains("fetchd webhook set"))
        let set = try await cli.run(
            "webhook", "set", "me", receiver.url, "--event", "job.failed", "--event", "session.*")
        #expect(set.output.contains("whsec_") && set.output.contains("job.failed, session.*"), "\(set)")
        #expect(set.errors.contains("Keep the secret"))
        #expect(try await cli.run("webhook", "list").lines.count == 2)
        #expect(try await cli.run("webhook", "list", "--json").json["webhooks"].count == 1)
        let test = try await cli.run("webhook", "test", "me", "--json")
        let id = try #require(test.json["id"].string)
        _ = try await receiver.waitFor("webhook.test")
        _ = try await eventually("the acknowledgement") {
            try await cli.run("webhook", "delivery", id, "--json").json["state"] == "acknowledged" ? true : nil
        }
        #expect(try await cli.run("webhook", "delivery", id).output.contains(", status 2"))
        #expect(try await cli.run("webhook", "deliveries", "me").lines.count == 2)
        #expect(
            try await cli.run("webhook", "deliveries", "me", "--state", "pending", "--json").json["deliveries"].count
                == 0)
        #expect(try await cli.run("webhook", "redeliver", id).output.contains(id))
        _ = try await cli.scene.job(in: .failed)
        #expect(try await cli.run("webhook", "recover", "me", "--after", "0").output.contains(" for me"))
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="
        let rotated = try await cli.run("webhook", "rotate-secret", "me", "--secret-file", "-", input: secret + "\n")
        #expect(rotated.output.contains(secret), "\(rotated)")
        #expect(try await cli.run("webhook", "enable", "me", "--json").json["state"] == "enabled")
        #expect(try await cli.run("webhook", "show", "me").output.contains(receiver.url))
        #expect(try await cli.run("webhook", "delete", "me").output == "me deleted\n")
    }
}
