import Downloads
import Foundation
import TestKit
import Testing

/// `GET /metrics` after real work of the real program, as Prometheus and the documentation see it.
@Suite struct MetricsTests {
    /// A service that has succeeded, failed, cancelled, posted, refused and left work behind.
    private func worked() async throws -> Scene {
        let scene = try await Scene.delivering()
        let (api, receiver) = (scene.api, try WebhookReceiver())
        receiver.answer(503, to: 1...1)
        _ = try await api.declareWebhook(url: receiver.url, events: ["job.succeeded"])
        for state in [JobState.Kind.succeeded, .failed, .cancelled, .waiting] { _ = try await scene.job(in: state) }
        try await api.waitForDelivery(of: "job.succeeded", toBe: .acknowledged)
        _ = try await api.get("/v1/jobs/unknown")
        _ = try await api.put("/v1/consumers/indexer", ["events": ["job.*"]])
        return scene
    }

    @Test(.realProcess, .enabled("needs promtool: run scripts/setup test") { await Promtool.isAvailable })
    func prometheusFindsNoFault() async throws {
        let scene = try await worked()
        let outcome = try await Promtool.run("check", "metrics", input: try await Scrape(of: scene.api).text)
        #expect(outcome.succeeded && outcome.output == "" && outcome.errors == "", "\(outcome)")
    }

    /// The table of docs/monitoring.md has each metric with its type and its labels, and no other.
    @Test func theDocumentationDescribesEveryMetric() async throws {
        let scrape = try await Scrape(of: try await worked())
        let page = try String(contentsOfFile: Project.path("docs/monitoring.md"), encoding: .utf8)
        let rows = page.matches(of: /\n\| `([a-z_]+)` \| (gauge|counter|histogram) \| ([a-z_`, ]*)\|/)
        let described = Dictionary(
            uniqueKeysWithValues: rows.map { row in
                (String(row.1), (type: String(row.2), labels: Set(row.3.matches(of: /[a-z_]+/).map { String($0.0) })))
            })
        #expect(Set(described.keys) == Set(scrape.metrics.keys))
        for (name, metric) in scrape.metrics {
            #expect(described[name]?.type == metric.type, "\(name)")
            #expect(described[name]?.labels == metric.labels, "\(name)")
        }
    }

    @Test func theDocumentationDescribesEveryClassOfRoutes() async throws {
        let text = try await Scrape(of: try await Scene()).text
        let page = try String(contentsOfFile: Project.path("docs/monitoring.md"), encoding: .utf8)
        let table = try #require(page.firstRange(of: "\n| route |")).lowerBound
        let described = page[table...].prefix(upTo: page[table...].firstRange(of: "\n## ")?.lowerBound ?? page.endIndex)
            .matches(of: /\n\| `([a-z]+)` \|/).map { String($0.1) }
        let counted = text.matches(of: /fetchd_http_requests_total\{code="2xx",route="([a-z]+)"\}/).map { String($0.1) }
        #expect(described == counted && !counted.isEmpty)
    }

    @Test func countsWhatHasHappened() async throws {
        let scene = try await worked()
        var counts: [String: Double] = [
            "fetchd_attempt_duration_seconds_count{result=\"succeeded\"}": 1,
            "fetchd_attempt_duration_seconds_count{result=\"failed\"}": 2,
            "fetchd_attempt_duration_seconds_count{result=\"stopped\"}": 1,
            "fetchd_attempt_failures_total{code=\"bad_status\"}": 2,
            "fetchd_webhook_duration_seconds_count{result=\"accepted\"}": 1,
            "fetchd_webhook_duration_seconds_count{result=\"rejected\"}": 1,
            "fetchd_webhook_duration_seconds_count{result=\"unanswered\"}": 0,
            "fetchd_http_requests_total{code=\"2xx\",route=\"submit\"}": 4,
            "fetchd_http_requests_total{code=\"4xx\",route=\"poll\"}": 1,
        ]
        for state in ["succeeded", "failed", "cancelled"] {
            counts["fetchd_job_duration_seconds_count{state=\"\(state)\"}"] = 1
            counts["fetchd_jobs{state=\"\(state)\"}"] = 1
        }
        // Some are counted a moment after the commit that the API shows.
        _ = try? await eventually("the counts") {
            let scrape = try await Scrape(of: scene.api)
            return counts.allSatisfy { scrape[$0.key] == $0.value } ? true : nil
        }
        let scrape = try await Scrape(of: scene.api)
        for (series, count) in counts { #expect(scrape[series] == count, "\(series)") }
        #expect(scrape["fetchd_received_bytes_total"] >= Double(scene.bytes.count))
        #expect(scrape["fetchd_sync_duration_seconds_count"] >= 1)
        #expect(scrape["fetchd_database_commit_duration_seconds_count"] >= 6)
        #expect(scrape["fetchd_database_size_bytes{file=\"log\"}"] > 0 || TestStore.server != nil)
        #expect(scrape["fetchd_downloads_free_bytes"] > 0 && scrape["fetchd_data_free_bytes"] > 0)
        #expect(scrape["fetchd_healthy{part=\"database\"}"] == 1)
        #expect(scrape["fetchd_nodes{state=\"running\"}"] == 1 && scrape["fetchd_node_is_leader"] == 1)
        #expect(scrape["fetchd_queue_oldest_age_seconds"] == 0 && scrape["fetchd_outbox_oldest_age_seconds"] == 0)
    }

    /// The ages follow the clock of the service.
    @Test func showsTheAgeOfWhatWaits() async throws {
        let time = ManualTime()
        let scene = try await Scene(.init { $0.time = time })
        let receiver = try WebhookReceiver()
        receiver.answer(503, to: 1...1_000)
        _ = try await scene.api.declareWebhook(url: receiver.url, events: ["job.created"])
        _ = try await scene.job(in: .queued)
        // A job with a time of its own does not wait for a slot.
        _ = try await scene.api.submit(scene.order("/file", ("not_before", "2100-01-01T00:00:00Z")))
        time.advance(by: 90)
        let scrape = try await Scrape(of: scene.api)
        #expect(scrape["fetchd_queue_oldest_age_seconds"] >= 90)
        #expect(scrape["fetchd_outbox_oldest_age_seconds"] >= 90)
        #expect(scrape["fetchd_jobs{state=\"queued\"}"] == 2)
        #expect(scrape["fetchd_running_attempts"] == 1)
        scene.gate.open()
    }

    @Test func countsRequestsThatWaitApart() async throws {
        let scene = try await Scene()
        let id = try await scene.job(in: .succeeded)
        let tag = try #require(try await scene.api.get("/v1/jobs/\(id)").header("ETag"))
        async let waited = scene.api.get("/v1/jobs/\(id)", headers: [("If-None-Match", tag), ("Prefer", "wait=1")])
        #expect(try await waited.status == 304)
        let scrape = try await Scrape(of: scene.api)
        #expect(scrape["fetchd_http_requests_total{code=\"3xx\",route=\"wait\"}"] == 1)
        #expect(scrape["fetchd_http_request_duration_seconds_count{route=\"wait\"}"] == 1)
    }
}
