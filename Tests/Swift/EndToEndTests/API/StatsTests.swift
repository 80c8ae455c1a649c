import Formats
import TestKit
import Testing

/// `GET /v1/stats`: the state of the service.
@Suite struct StatsTests {
    @Test func showsJobsSlotsDiskAndBytesReceived() async throws {
        let scene = try await Scene(.init { $0.start.values.maxConcurrentJobs = 3 })
        let fresh = try await scene.api.get("/v1/stats").json
        #expect(fresh["jobs"]["queued"] == 0)
        #expect(fresh["slots"] == ["used": 0, "max": 3])
        #expect(fresh["bytes_received"] == 0)
        #expect(fresh["sessions"] == 1)
        #expect(fresh["version"] == "0.0.0")
        let disk = try #require(fresh["disk"]["free_bytes"].integer)
        #expect(disk > 0 && disk <= fresh["disk"]["total_bytes"].integer ?? 0)

        _ = try await scene.job(in: .running)
        _ = try await scene.job(in: .failed)
        _ = try await scene.job(in: .succeeded)
        // The last bytes of the running job arrive with the flush of its unfinished chunk.
        let stats = try await eventually("the bytes of the running job") {
            let stats = try await scene.api.get("/v1/stats").json
            return (stats["bytes_received"].integer ?? 0) >= 300_000 ? stats : .none
        }
        #expect(stats["jobs"]["running"] == 1)
        #expect(stats["jobs"]["failed"] == 1)
        #expect(stats["jobs"]["succeeded"] == 1)
        #expect(stats["slots"] == ["used": 1, "max": 3])
        #expect(stats["throughput"]["interval_seconds"] == 5)
        #expect(stats["last_event"] == (try await scene.api.events().last?["id"]))
        #expect(stats["started_at"] == fresh["started_at"])
        #expect(try #require(stats["uptime_seconds"].numberValue) > fresh["uptime_seconds"].numberValue ?? .infinity)
        #expect(try await scene.api.get("/v1/stats?x=1").problem == .init(kind: "unknown-field"))
    }

    /// A page that is opened later can show what happened before.
    @Test func showsThroughputOfTheLastMinutes() async throws {
        let time = ManualTime()
        let scene = try await Scene(.init { $0.time = time })
        time.advance(by: 5)
        _ = try await scene.job(in: .succeeded)
        time.advance(by: 10)
        func rates() async throws -> [Int64] {
            let throughput = try await scene.api.get("/v1/stats").json["throughput"]
            return (throughput["bytes_per_second"].arrayValue ?? []).compactMap(\.integer)
        }
        let seen = try await rates()
        #expect(seen.reduce(0, +) * 5 == Int64(scene.bytes.count) && seen.last == 0, "\(seen)")
        time.advance(by: 600)
        #expect(try await rates() == Array(repeating: 0, count: 60))
    }

    /// Also what arrived before a restart. A pass of the worker stores the bytes of a minute when it is over.
    @Test func showsThroughputOfTheLastHourAndWeek() async throws {
        let time = ManualTime()
        let scene = try await Scene(.init { $0.time = time })
        _ = try await scene.job(in: .succeeded)
        time.advance(by: 60)
        let history = try await eventually("the minute to be stored") {
            let history = try await scene.api.get("/v1/throughput").json
            let isStored = history["hour"]["bytes_per_second"].arrayValue?.contains { $0 != 0 } == true
            return isStored ? history : JSON?.none
        }
        for (series, count, seconds) in [("hour", 60, 60), ("week", 168, 3600)] {
            let rates = (history[series]["bytes_per_second"].arrayValue ?? []).compactMap(\.integer)
            #expect(rates.count == count && history[series]["interval_seconds"].integer == Int64(seconds))
            #expect(rates.reduce(0, +) == Int64(scene.bytes.count) / Int64(seconds), "\(rates)")
        }
        #expect(try await scene.api.get("/v1/throughput?x=1").problem == .init(kind: "unknown-field"))
    }
}
