import Base
import Downloads
import Formats
import Foundation
import Storage
import TestKit
import Testing

/// Servers that refuse requests when these come too fast, and servers that say how many they allow.
@Suite struct PoliteTests {
    /// A service whose clock stands still.
    private static func scene(_ time: ManualTime = ManualTime()) async throws -> (Scene, ManualTime) {
        (try await Scene(.init { $0.time = time }), time)
    }

    private static func host(_ scene: Scene) async throws -> JSON {
        let name = "127.0.0.1:\(scene.origin.port)"
        let list = try await scene.api.get("/v1/hosts").json["hosts"].arrayValue ?? []
        return list.first { $0["host"].string == name } ?? .null
    }

    @Test func refusalOfOneRequestHoldsAllJobs() async throws {
        let (scene, time) = try await Self.scene()
        scene.origin.serve("/f", .file(scene.bytes), .answering(429, headers: [("Retry-After", "60")]).once)
        let first = try await scene.api.submit(scene.order("/f"))
        let waiting = try await scene.api.waitForJob(first, .waiting)
        #expect(waiting["reason"] == "retry" && waiting["attempts"] == 0)
        #expect(waiting["retry_at"].date == time.now.addingTimeInterval(60))
        #expect(waiting["cause"]["status"] == 429)

        let others = try await scene.api.submit(all: (0..<5).map { scene.order("/f?\($0)") })
        let host = try await Self.host(scene)
        #expect(host["state"] == "closed" && host["queued"] == 5 && host["running"] == 0)
        #expect(host["closed_until"].date == time.now.addingTimeInterval(60))
        #expect(host["why"] == "it has answered a request with 429")
        // Another server is not concerned.
        let other = try Origin()
        other.serve("/g", .file(scene.bytes))
        try await scene.api.waitForJob(scene.api.submit(["url": .string(other.url("/g"))]), .succeeded)
        #expect(scene.origin.requests.count == 1)
        for id in others { #expect(try await scene.api.job(id)["state"] == "queued") }

        time.advance(by: 60)
        for id in [first] + others {
            #expect(try await scene.api.waitForJob(id, .succeeded)["attempts"] == 1)
        }
        #expect(scene.origin.requests.count == 7)
        #expect(try await Self.host(scene)["state"] != "closed")
    }

    @Test func usedUpQuotaHoldsAcrossARestart() async throws {
        let time = ManualTime()
        let service = try await LocalService.start(.init { $0.time = time })
        let origin = try Origin()
        let fields = [("RateLimit", "\"default\";r=0;t=3600")]
        origin.serve("/f", .file(Content.random(seed: 1, count: 1000)), .header("RateLimit", fields[0].1).once)
        let url = JSON.string(origin.url("/f"))
        try await service.api.waitForJob(service.api.submit(["url": url]), .succeeded)
        _ = try await eventually("the closed server in the log") {
            service.log.contains("gets no requests until") ? true : nil
        }
        try await service.restart()
        let held = try await service.api.submit(["url": url])
        let hosts = try await service.api.get("/v1/hosts").json["hosts"].arrayValue ?? []
        #expect(hosts.count == 1 && hosts[0]["state"] == "closed")
        #expect(hosts[0]["why"] == "the number of requests that it allows is used up")
        time.advance(by: 3000)
        #expect(try await service.api.job(held)["state"] == "queued")
        #expect(origin.requests.count == 1)

        // A client knows better.
        let answer = try await service.api.post("/v1/hosts/127.0.0.1:\(origin.port)/open")
        #expect(answer.status == 200 && answer.json["state"] == "half_open")
        try await service.api.waitForJob(held, .succeeded)
        #expect(try await service.api.post("/v1/hosts/unknown:1/open").status == 404)
    }

    @Test func openingEndsTheWaitOfTheRefusedJob() async throws {
        let (scene, _) = try await Self.scene()
        scene.origin.serve("/f", .file(scene.bytes), .answering(429, headers: [("Retry-After", "3600")]).once)
        let refused = try await scene.api.submit(scene.order("/f"))
        try await scene.api.waitForJob(refused, .waiting)
        let answer = try await scene.api.post("/v1/hosts/127.0.0.1:\(scene.origin.port)/open")
        #expect(answer.status == 200)
        #expect(try await scene.api.waitForJob(refused, .succeeded)["attempts"] == 1)
    }

    /// A server whose redirect leads to a closed one is not asked again and again.
    @Test func jobWaitsForTheServerThatItIsRedirectedTo() async throws {
        let (scene, time) = try await Self.scene()
        let target = try Origin()
        target.serve("/f", .file(scene.bytes), .answering(503, headers: [("Retry-After", "30")]).once)
        scene.origin.serve("/r", .fixed(status: 302, headers: [("Location", target.url("/f"))]))
        let first = try await scene.api.submit(scene.order("/r"))
        try await scene.api.waitForJob(first, .waiting)
        let second = try await scene.api.submit(scene.order("/r?2"))
        let waiting = try await scene.api.waitForJob(second, .waiting)
        #expect(waiting["attempts"] == 0 && waiting["retry_at"].date == time.now.addingTimeInterval(30))
        #expect(scene.origin.requests.count == 2 && target.requests.count == 1)
        // The first one probes the server, and the second one waits a second for the result.
        time.advance(by: 29)
        for id in [first, second] {
            _ = try await eventually("both files") {
                time.advance(by: 1)
                return try await scene.api.job(id)["state"] == "succeeded" ? true : nil
            }
        }
    }

    /// 503 without a time is the job's own failure, until several jobs get it.
    @Test func oneBrokenURLStopsNoServer() async throws {
        let scene = try await Scene()
        scene.origin.serve("/broken", .fixed(status: 503))
        let broken = try await scene.api.submit(
            scene.order("/broken", ("retry", ["max_attempts": 4, "base_seconds": 0])))
        #expect(try await scene.api.waitForJob(broken, .failed)["failure"]["attempts"] == 4)
        try await scene.api.waitForJob(scene.api.submit(scene.order()), .succeeded)
    }

    // MARK: Rules

    private static func scene(_ rule: JSON, _ time: ManualTime) async throws -> Scene {
        let rules = HostRules([try HostRule(rule)])
        return try await Scene(
            .init {
                $0.time = time
                $0.start.values.hostRules = rules
            })
    }

    @Test func statusOfARuleHoldsTheServer() async throws {
        let time = ManualTime()
        let scene = try await Self.scene(["host": "127.0.0.1", "pause_statuses": [403]], time)
        scene.origin.serve("/f", .file(scene.bytes), .answering(403).once)
        let id = try await scene.api.submit(scene.order("/f"))
        #expect(try await scene.api.waitForJob(id, .waiting)["attempts"] == 0)
        #expect(try await Self.host(scene)["why"] == "it has answered a request with 403")
        time.advance(by: 1)
        #expect(try await scene.api.waitForJob(id, .succeeded)["attempts"] == 1)
    }

    /// One request each second: the other jobs are queued, and hold no slot.
    @Test func ruleSpreadsRequests() async throws {
        let time = ManualTime()
        let scene = try await Self.scene(["host": "127.0.0.1", "requests_per_second": 1], time)
        let ids = try await scene.api.submit(all: (0..<4).map { scene.order("/file?\($0)") })
        for count in 1...4 {
            _ = try await eventually("\(count) files") {
                try await scene.api.get("/v1/jobs?state=succeeded").json["jobs"].count == count ? true : nil
            }
            #expect(scene.origin.requests.count == count)
            let states =
                try await scene.api.get("/v1/jobs").json["jobs"].arrayValue?.compactMap { $0["state"].string } ?? []
            #expect(states.count { $0 == "queued" } == 4 - count)
            time.advance(by: 1.04)
        }
        for id in ids { #expect(try await scene.api.job(id)["attempts"] == 1) }
    }

    /// The requests of further connections, for ranges of the file, count as well.
    @Test func ruleSpreadsTheConnectionsOfAJob() async throws {
        let time = ManualTime()
        let scene = try await Self.scene(["host": "127.0.0.1", "requests_per_second": 1], time)
        let bytes = Content.random(seed: 3, count: 4 << 20)
        scene.origin.serve("/big", .file(bytes), .waiting(at: 1000, for: scene.gate))
        let id = try await scene.api.submit(scene.order("/big", ("connections", 3)))
        await scene.origin.waitForRequests("/big", count: 1)
        var elapsed = 0.0
        _ = try await eventually("three requests") {
            elapsed += 0.25
            time.advance(by: 0.25)
            #expect(scene.origin.requests.count <= 1 + Int(elapsed))
            return scene.origin.requests.count == 3 ? true : nil
        }
        scene.gate.open()
        #expect(try await scene.api.waitForJob(id, .succeeded)["attempts"] == 1)
        #expect(scene.origin.requests.compactMap { $0.header("Range") }.count >= 2)
        #expect(scene.fetchd.downloaded("big") == bytes)
    }

    @Test func ruleOfASessionHoldsItsJobsOnly() async throws {
        let time = ManualTime()
        let scene = try await Scene(.init { $0.time = time })
        let rule: JSON = ["host": "127.0.0.1", "requests_per_second": 1, "pause_statuses": [403]]
        #expect(try await scene.api.declareSession("slow", ["hosts": [rule]])["configuration"]["hosts"] == [rule])
        scene.origin.serve("/f", .file(scene.bytes), .answering(403).once)
        let first = try await scene.api.submit(scene.order("/f", ("session", "slow")))
        try await scene.api.waitForJob(first, .waiting)
        let held = try await scene.api.submit(scene.order("/file", ("session", "slow")))
        for number in 0..<5 {
            try await scene.api.waitForJob(scene.api.submit(scene.order("/file?\(number)")), .succeeded)
        }
        #expect(try await scene.api.job(held)["state"] == "queued")
        #expect(try await Self.host(scene)["state"] == "open")
        for _ in 0..<3 { time.advance(by: 1.04) }
        for id in [first, held] {
            _ = try await eventually("the jobs of the session") {
                time.advance(by: 1.04)
                return try await scene.api.job(id)["state"] == "succeeded" ? true : nil
            }
        }
    }

    @Test func ruleLimitsConnections() async throws {
        let scene = try await Scene()
        let patched = try await scene.api.send(
            "PATCH", "/v1/service", ["hosts": [["host": "127.0.0.1", "connections": 1]]])
        #expect(
            patched.json["hosts"] == [["host": "127.0.0.1", "connections": 1]]
                && patched.json["sources"]["hosts"] == "api")
        let ids = try await scene.api.submit(all: (0..<6).map { scene.order("/file?\($0)") })
        for id in ids { try await scene.api.waitForJob(id, .succeeded) }
        #expect(scene.origin.maxConcurrentRequests == 1)
        for (rule, member) in [
            (["host": "a"], ""), (["connections": 1], "/host"), (["host": "*.", "connections": 1], "/host"),
        ]
            as [(JSON, String)]
        {
            let refused = try await scene.api.send("PATCH", "/v1/service", ["hosts": [rule]])
            #expect(refused.status == 422, "\(member)")
            let session = try await scene.api.send("PUT", "/v1/sessions/s", ["hosts": [rule]])
            #expect(session.status == 422 && session.json["pointer"].string == "/hosts/0\(member)", "\(session)")
        }
    }

    /// A server that refuses more than a number of requests a second, and says nothing else.
    private final class Limit: Sendable {
        private let times = Locked<[Duration]>([])
        private let refused = Locked(0)
        let perSecond: Int

        init(perSecond: Int) { self.perSecond = perSecond }

        var refusals: Int { refused.withLock(\.self) }

        func serves() -> Bool {
            let now = SystemTime().uptime
            let isServed = times.withLock { times in
                times.removeAll { $0 <= now - .seconds(1) }
                if times.count < perSecond { times.append(now) }
                return times.last == now
            }
            if !isServed { refused.withLock { $0 += 1 } }
            return isServed
        }
    }

    @Test func learnsTheRateOfAServer() async throws {
        let scene = try await Scene()
        let limit = Limit(perSecond: 50)
        scene.origin.serve("/f", .file(scene.bytes), .answering(429).when { _ in !limit.serves() })
        let ids = try await scene.api.submit(all: (0..<300).map { scene.order("/f?\($0)") })
        for id in ids { #expect(try await scene.api.waitForJob(id, .succeeded)["attempts"] == 1) }
        // Without the gate, each of the jobs would be refused several times.
        #expect(limit.refusals < 60)
        #expect(try await Self.host(scene)["state"] == "pacing")
    }

    @Test(.realProcess) func commandListsAndOpensServers() async throws {
        let command = try await CommandLineScene()
        let scene = command.scene
        scene.origin.serve("/f", .file(scene.bytes), .answering(429, headers: [("Retry-After", "60")]).once)
        let job = try await scene.api.submit(scene.order("/f"))
        try await scene.api.waitForJob(job, .waiting)
        let name = "127.0.0.1:\(scene.origin.port)"
        let listed = try await command.run("hosts")
        #expect(listed.output.contains(name) && listed.output.contains("closed"), "\(listed.output)")
        let opened = try await command.run("hosts", "open", name)
        #expect(opened.output == "\(name) gets a request now\n")
        #expect(try await command.run("hosts", "open", "unknown:1").ending == .exited(66))
    }
}
