import Formats
import Foundation
import TestKit
import Testing

/// Rehearsals produce success, failure and waiting without a real server. They take the same path as downloads, crashes
/// included.
@Suite struct RehearsedSessionTests {
    private static let enabled = LocalService.Options { $0.start.values.enableRehearsals = true }
    /// Slow enough for several checkpoints, which are two seconds apart, and a kill after the first.
    private static let slow = "rehearse:slow.bin?size=5000000&seconds=12"

    private func order(_ url: String, _ session: String = "default") -> JSON {
        ["url": .string(url), "session": .string(session)]
    }

    private func declare(_ names: [String], _ fetchd: some TestedService) async throws {
        for name in names {
            try await fetchd.api.declareSession(
                name,
                [
                    "finish_delay_seconds": 0.05, "directory": .string(name),
                    "retry": ["base_seconds": 0.05, "max_seconds": 0.05],
                ])
        }
    }

    @Test func refusesRehearsalsUnlessEnabled() async throws {
        let scene = try await Scene()
        let one = try await scene.api.post("/v1/jobs", order("rehearse:film.mkv"))
        #expect(one.status == 422)
        #expect(one.problem == .init(kind: "invalid-value", pointer: "/url"))
        #expect(one.json["detail"].string?.contains("--enable-rehearsals") == true)
        let many = try await scene.api.post("/v1/jobs/batch", ["jobs": [scene.order(), order("REHEARSE:film.mkv")]])
        #expect(many.status == 422)
        #expect(many.problem == .init(kind: "invalid-value", pointer: "/jobs/1/url"))
        #expect(many.json["detail"].string?.contains("--enable-rehearsals") == true)
        #expect(try await scene.isUntouched())
    }

    @Test(arguments: [
        "rehearse:", "rehearse:a/b", "rehearse:..", "rehearse://host/a", "rehearse:a?colour=blue", "rehearse:a?size=-1",
        "rehearse:a?size=1&size=2", "rehearse:a?seconds=soon", "rehearse:a?status=200", "rehearse:a?size=5&lose_at=5",
    ])
    func refusesInvalidRehearsalURL(_ url: String) async throws {
        let fetchd = try await LocalService.start(Self.enabled)
        let answer = try await fetchd.api.post("/v1/jobs", order(url))
        #expect(answer.status == 422)
        #expect(answer.problem == .init(kind: "invalid-value", pointer: "/url"))
        #expect(try await fetchd.api.events() == [])
    }

    /// Success, failure and both in one batch, each with a job that the kill interrupts.
    @Test func rehearsesEveryOutcomeAcrossKill() async throws {
        let (fetchd, receiver) = (
            try await FetchdProcess.start(.init(arguments: ["--enable-rehearsals"])), try WebhookReceiver()
        )
        let sessions = ["good", "bad", "mixed"]
        try await declare(sessions, fetchd)
        for name in sessions { try await fetchd.api.declareWebhook(of: name, url: receiver.url) }
        let lost = "rehearse:lost.bin?size=5000000&seconds=12&lose_at=4500000&then=410"
        let ids = try await fetchd.api.submit(all: [
            order(Self.slow, "good"), order("rehearse:film.mkv?size=100000", "good"),
            order(lost, "bad"), order("rehearse:film.mkv?status=404", "bad"),
            order(Self.slow, "mixed"), order("rehearse:film.mkv?status=403", "mixed"),
        ])
        for name in sessions {
            try await fetchd.api.waitForSession(name, toBe: "on the disk in part") {
                ($0["progress"]["bytes_received"].integer ?? 0) > 100_000 && $0.counts["running"] == 1
            }
        }
        try await fetchd.kill()
        try await fetchd.restart()
        // The same content without an interruption.
        let undisturbed = try await fetchd.api.submit(order("rehearse:slow.bin?size=5000000"))

        let finishes = try await receiver.waitFor("session.finished", count: 3)
        let outcomes = finishes.map { ($0.data["session"].string ?? "", $0.data["outcome"].string ?? "") }
        #expect(
            Dictionary(outcomes) { first, _ in first }
                == ["good": "succeeded", "bad": "failed", "mixed": "partly_failed"])
        let whole = try await fetchd.api.waitForJob(undisturbed, .succeeded)
        #expect(whole["resume"]["decision"] == "fresh")
        #expect(whole["file"]["size"] == 5_000_000)
        for id in [ids[0], ids[4]] {
            let job = try await fetchd.api.job(id)
            #expect(job["resume"]["decision"] == "resumed")
            let offset = try #require(job["resume"]["offset"].integer)
            #expect(0 < offset && offset < 5_000_000)
            #expect(job["file"]["size"] == 5_000_000)
            #expect(job["file"]["sha256"] == whole["file"]["sha256"])
            #expect(fetchd.downloaded(try #require(job["file"]["path"].string)) == fetchd.downloaded("slow.bin"))
        }
        for (id, code, status) in [(ids[2], "link_expired", 410), (ids[3], "bad_status", 404)] as [(String, JSON, JSON)]
        {
            let failure = try await fetchd.api.job(id)["failure"]
            #expect(failure["code"] == code)
            #expect(failure["status"] == status)
        }
    }

    @Test func rehearsesWaitingForURLAndCredentials() async throws {
        let fetchd = try await LocalService.start(Self.enabled)
        try await declare(["films"], fetchd)
        let expiring = order("rehearse:f.bin?size=3000000&lose_at=2000000&then=403", "films")
            .with(["wait_for": ["url"]])
        let guarded = order("rehearse:g.bin?status=401", "films").with(["wait_for": ["credentials"]])
        let ids = try await fetchd.api.submit(all: [expiring, guarded])
        let link = try await fetchd.api.waitForJob(ids[0], toBe: "waiting for a link") { $0["reason"] == "url" }
        #expect(link["progress"]["bytes_durable"] == 2_000_000)
        let challenged = try await fetchd.api.waitForJob(ids[1], .waiting)
        #expect(challenged["challenge"] == ["scheme": "basic", "realm": "rehearsal"])
        let calls = try await fetchd.api.journal(of: "films", type: "session.waiting")
        #expect(calls.map { $0["data"]["counts"] } == [["credentials": 1, "url": 1]])
        // With an Authorization header, the same rehearsal succeeds.
        let authorized = order("rehearse:g.bin?status=401", "films").with(["headers": ["Authorization": "Bearer 1"]])
        let id = try await fetchd.api.submit(authorized)
        #expect(try await fetchd.api.waitForJob(id, .succeeded)["file"]["size"] == 1_048_576)
    }

    /// The service restarts without `--enable-rehearsals`: the leftover job fails with a message that names the option.
    @Test func failsLeftoverRehearsalWhenDisabledAtRestart() async throws {
        let fetchd = try await FetchdProcess.start(.init(arguments: ["--enable-rehearsals"]))
        let id = try await fetchd.api.submit(order("rehearse:slow.bin?seconds=3600"))
        try await fetchd.api.waitForBytes(id)
        try await fetchd.kill()
        let other = try await FetchdProcess.start(in: fetchd.folder)
        let failure = try await other.api.waitForJob(id, .failed)["failure"]
        #expect(failure["code"] == "bad_url")
        #expect(failure["message"].string?.contains("--enable-rehearsals") == true)
    }
}
