import Formats
import Foundation
import TestKit
import Testing

/// The process is stopped for longer than its time limits, as by a pause of a virtual machine. The limits measure the
/// peers of fetchd, and none of them was late.
///
/// On PostgreSQL, the service has lost its lease after this time, and stops its transfers.
@Suite(.onSQLite) struct PausedProcessTests {
    @Test func peersOfAPausedServiceAreNotLate() async throws {
        let (origin, receiver) = (try Origin(), try WebhookReceiver())
        let (film, answer) = (Gate(), Gate())
        let bytes = Content.random(seed: 1, count: 400_000)
        origin.serve("/film", .file(bytes), .waiting(at: 100_000, for: film))
        receiver.answer(204, to: 1...1, after: answer)
        let fetchd = try await FetchdProcess.start()
        _ = try await fetchd.api.declareWebhook(url: receiver.url, events: ["job.created"])
        let job = try await fetchd.api.submit([
            "url": .string(origin.url("/film")), "retry": ["max_attempts": 1], "timeouts": ["request_seconds": 20],
        ])
        _ = try await receiver.waitFor("job.created")
        try await fetchd.api.waitForBytes(job, atLeast: 100_000)
        let body = #"{"url":"http://127.0.0.1:1/","not_before":"2090-01-01T00:00:00Z"}"#
        let request = try HeldRequest(
            to: fetchd.port,
            head: ["POST /v1/jobs HTTP/1.1", "Content-Type: application/json", "Content-Length: \(body.utf8.count)"])
        // A pause of 23 s is longer than the limits of the webhook, of the body and of the download: 20 s.
        fetchd.signal(SIGSTOP)
        try await Task.sleep(for: .seconds(23))
        fetchd.signal(SIGCONT)
        // It runs again before its peers go on.
        #expect(try await fetchd.api.get("/readyz").status == 200)
        answer.open()
        film.open()
        #expect(try await request.finish(body).hasPrefix("HTTP/1.1 201 "))
        #expect(try await fetchd.api.waitForJob(job, toBe: "succeeded") { $0["state"] == "succeeded" }["attempts"] == 1)
        // The events of both jobs, each posted once.
        _ = try await eventually("the deliveries to be acknowledged") {
            let page = try await fetchd.api.get("/v1/sessions/default/webhooks/receiver/deliveries?state=acknowledged")
            return page.json["deliveries"].count == 2 ? true : nil
        }
        #expect(receiver.received.count == 2)
    }

    /// The endpoint has accepted the event. It does not get it again while fetchd cannot store that.
    @Test func acceptedDeliveryIsNotPostedAgainWhileTheDatabaseFails() async throws {
        let (faults, receiver, answer) = (try await DiskFaults(), try WebhookReceiver(), Gate())
        receiver.answer(204, after: answer)
        let fetchd = try await FetchdProcess.start(.init(environment: faults.environment))
        _ = try await fetchd.api.declareWebhook(url: receiver.url, events: ["job.created"])
        _ = try await fetchd.api.submit(["url": "http://127.0.0.1:1/", "not_before": "2090-01-01T00:00:00Z"])
        _ = try await receiver.waitFor("job.created")
        try faults.set("fdatasync,fsync fetchd.sqlite-wal$ 1 - EIO!")
        answer.open()
        _ = try await eventually("the record to fail") {
            fetchd.log.contains("Could not record delivery") && faults.log.count >= 3 ? true : nil
        }
        try faults.heal()
        _ = try await eventually("the delivery to be acknowledged") {
            let page = try? await fetchd.api.get("/v1/sessions/default/webhooks/receiver/deliveries?state=acknowledged")
            return page?.json["deliveries"].count == 1 ? true : nil
        }
        #expect(receiver.received.count == 1)
    }
}
