import Downloads
import Formats
import Foundation
import HTTPSemantics
import TestKit
import Testing

/// One file over several connections: as many as requested and allowed, each byte once, and one connection if the
/// server supports no more.
@Suite struct SegmentedTests {
    private static let bytes = Content.random(seed: 40, count: 4 << 20)
    private var bytes: [UInt8] { Self.bytes }

    private struct Stage {
        let fetchd: FetchdProcess
        let origin: Origin
        let mirror: Origin
        var api: APIClient { fetchd.api }

        init(_ arguments: [String] = ["--max-connections-per-host", "16"]) async throws {
            fetchd = try await FetchdProcess.start(.init(arguments: arguments))
            (origin, mirror) = (try Origin(), try Origin())
        }

        func submit(_ connections: Int, _ members: JSONObject = [:]) async throws -> String {
            let order = JSON.object([
                "url": .string(origin.url("/f")), "connections": .count(connections),
                "retry": ["base_seconds": 0.01, "max_attempts": 2],
            ])
            return try await api.submit(order.with(members))
        }

        /// Submits a job with the URLs of both origins.
        func submitToBoth(_ connections: Int) async throws -> String {
            try await api.submit([
                "urls": [.string(origin.url("/f")), .string(mirror.url("/f"))], "connections": .count(connections),
                "retry": ["base_seconds": 0.01, "max_attempts": 2],
            ])
        }

        func isDownloaded(_ bytes: [UInt8]) -> Bool { fetchd.downloaded("f") == bytes }
    }

    /// The `Range` of each request; nil if it asked for the whole file.
    private func asked(_ origin: Origin) -> [String?] { origin.requests(to: "/f").map { $0.header("Range") } }

    private static let slow = OriginBehaviour.limited(bytesPerSecond: 1 << 20)

    // MARK: Sharing

    @Test(arguments: [2, 5, 16]) func opensRequestedNumberOfConnections(_ connections: Int) async throws {
        let (stage, gate) = (try await Stage(), Gate())
        // Each connection gets a segment that is worth a request, although the first one has received bytes before.
        let bytes = Content.random(seed: 41, count: max(8, connections) << 19)
        stage.origin.serve("/f", .file(bytes), .waiting(at: 1000, for: gate))
        let id = try await stage.submit(connections)
        #expect(await gate.reached(by: connections))
        #expect(stage.origin.maxConcurrentRequests == connections)
        gate.open()
        let job = try await stage.api.waitForJob(id, .succeeded)
        #expect(stage.isDownloaded(bytes))
        let ranges = asked(stage.origin)
        #expect(ranges.first == "bytes=0-")
        let conditions = stage.origin.requests(to: "/f").map { $0.header("If-Range") }
        #expect(conditions.first == .some(nil) && conditions.dropFirst().allSatisfy { $0 == "\"v1\"" })
        #expect(job["resume"] == ["decision": "fresh", "why": nil, "offset": 0])
        #expect(job["attempts"] == 1)
        #expect(job["file"]["sha256"].string == SHA.hexadecimal(of: bytes))
        #expect(job["receipt"]["length_verified"] == true)
        #expect(job["receipt"]["status"] == 206)
        #expect(job["progress"]["bytes_received"].integer == Int64(bytes.count))
    }

    @Test func closesFinishedFile() async throws {
        let stage = try await Stage()
        stage.origin.serve("/f", .file(bytes))
        try await stage.api.waitForJob(stage.submit(4), .succeeded)
        let path = stage.fetchd.folder.path("downloads/f")
        let table = "/proc/\(stage.fetchd.pid)/fd"
        _ = try await eventually("the file to be closed") {
            let open = try FileManager.default.contentsOfDirectory(atPath: table).compactMap {
                try? FileManager.default.destinationOfSymbolicLink(atPath: "\(table)/\($0)")
            }
            return open.contains(path) ? nil : true
        }
    }

    @Test func requestsWholeFileWithoutRangeOverOneConnection() async throws {
        let stage = try await Stage()
        stage.origin.serve("/f", .file(bytes))
        try await stage.api.waitForJob(stage.submit(1), .succeeded)
        #expect(asked(stage.origin) == [nil])
    }

    @Test func takesConnectionsFromSession() async throws {
        let (stage, gate) = (try await Stage(), Gate())
        stage.origin.serve("/f", .file(bytes), .waiting(at: 1000, for: gate))
        try await stage.api.declareSession("wide", ["connections": 4])
        let id = try await stage.api.submit(["url": .string(stage.origin.url("/f")), "session": "wide"])
        #expect(await gate.reached(by: 4))
        gate.open()
        try await stage.api.waitForJob(id, .succeeded)
        #expect(stage.isDownloaded(bytes))
        #expect(try await stage.api.session("wide")["configuration"]["connections"] == 4)
    }

    @Test(arguments: [0, 17, -1]) func refusesInvalidConnections(_ connections: Int) async throws {
        let stage = try await Stage()
        let order: JSON = ["url": "http://127.0.0.1:9/f", "connections": .count(connections)]
        let answer = try await stage.api.post("/v1/jobs", order)
        #expect(answer.problem == .init(kind: "invalid-value", pointer: "/connections"))
        let session = try await stage.api.put("/v1/sessions/s", ["connections": .count(connections)])
        #expect(session.problem == .init(kind: "invalid-value", pointer: "/connections"))
    }

    // MARK: Limits

    @Test func appliesSessionConnectionLimitPerHost() async throws {
        let (stage, gate) = (try await Stage(), Gate())
        stage.origin.serve("/f", .file(bytes), .waiting(at: 1000, for: gate))
        stage.mirror.serve("/g", .file([1]))
        try await stage.api.declareSession("narrow", ["connections": 8, "max_connections_per_host": 3])
        let id = try await stage.api.submit(["url": .string(stage.origin.url("/f")), "session": "narrow"])
        #expect(await gate.reached(by: 3))
        // A further connection would begin before a later job ends.
        let later = try await stage.api.submit(["url": .string(stage.mirror.url("/g"))])
        try await stage.api.waitForJob(later, .succeeded)
        #expect(stage.origin.requests(to: "/f").count == 3)
        gate.open()
        try await stage.api.waitForJob(id, .succeeded)
        #expect(stage.isDownloaded(bytes))
        // Connections that were cut may still be open at the server when their successors arrive.
        #expect(stage.origin.maxConcurrentRequests < 8)
    }

    @Test func countsConnectionsOfJobsInServiceLimitPerHost() async throws {
        let stage = try await Stage(["--max-connections-per-host", "4"])
        let gate = Gate()
        for name in ["/f", "/g", "/h"] { stage.origin.serve(name, .file(bytes), .waiting(at: 1000, for: gate)) }
        let first = try await stage.submit(8)
        #expect(await gate.reached(by: 4))
        let others = try await stage.api.submit(["url": .string(stage.origin.url("/g"))])
        // The other job gets no connection until the first has finished.
        #expect(try await stage.api.job(others)["state"] == "queued")
        #expect(stage.origin.requests(to: "/f").count == 4)
        gate.open()
        try await stage.api.waitForJob(first, .succeeded)
        try await stage.api.waitForJob(others, .succeeded)
        #expect(stage.isDownloaded(bytes))
    }

    @Test func usesOneConnectionWhenLimitAllowsNoMore() async throws {
        let stage = try await Stage(["--max-connections-per-host", "1"])
        stage.origin.serve("/f", .file(bytes), Self.slow)
        try await stage.api.waitForJob(stage.submit(8), .succeeded)
        #expect(stage.origin.requests.count == 1)
        #expect(stage.isDownloaded(bytes))
    }

    @Test func opensMoreConnectionsWhenPatchedDuringDownload() async throws {
        let (stage, gate) = (try await Stage(), Gate())
        stage.origin.serve("/f", .file(bytes), .waiting(at: 1000, for: gate))
        let id = try await stage.submit(2)
        #expect(await gate.reached(by: 2))
        try await stage.api.change(id, ["connections": 8])
        #expect(await gate.reached(by: 8))
        gate.open()
        try await stage.api.waitForJob(id, .succeeded)
        #expect(stage.isDownloaded(bytes))
    }

    // MARK: Servers without usable ranges

    @Test(arguments: ["ranges ignored", "weak validator", "no validator", "no ranges offered"])
    func usesOneRequestWhenServerHasNoRangesOrStrongValidator(_ fault: String) async throws {
        let stage = try await Stage()
        switch fault {
        case "ranges ignored": stage.origin.serve("/f", .file(bytes), .ignoringRanges)
        case "weak validator": stage.origin.serve("/f", .file(bytes, etag: "W/\"v1\""))
        case "no validator": stage.origin.serve("/f", .file(bytes, etag: nil))
        default: stage.origin.serve("/f", .file(bytes), .ignoringRanges, .header("Accept-Ranges", "none"))
        }
        let job = try await stage.api.waitForJob(stage.submit(8), .succeeded)
        #expect(stage.origin.requests.count == 1)
        #expect(job["resume"]["decision"] == "fresh")
        #expect(stage.isDownloaded(bytes))
    }

    @Test(arguments: ["bytes 1-9/4194304", "bytes 0-4194303/*", "bytes 0-9/4194304", "nonsense"])
    func repeatsRequestWithoutRangeWhenFirstRangeIsWrong(_ contentRange: String) async throws {
        let stage = try await Stage()
        stage.origin.serve("/f", .file(bytes), .contentRange(contentRange))
        let job = try await stage.api.waitForJob(stage.submit(8), .succeeded)
        #expect(asked(stage.origin) == ["bytes=0-", nil])
        #expect(job["resume"]["decision"] == "fresh")
        #expect(stage.isDownloaded(bytes))
    }

    @Test func downloadsEmptyFileWithoutRange() async throws {
        let stage = try await Stage()
        stage.origin.serve("/f", .file([]))
        try await stage.api.waitForJob(stage.submit(8), .succeeded)
        #expect(asked(stage.origin) == ["bytes=0-", nil])
        #expect(stage.isDownloaded([]))
    }

    private static let refusals: [(String, OriginBehaviour)] = [
        ("503", .answering(503)), ("404", .answering(404)), ("everything", .ignoringRanges),
        ("hanging up", .hangingUp), ("another range", .shiftingRanges(by: 1000)),
        ("another file", .serving(.file(Content.random(seed: 41, count: 4 << 20), etag: "\"v2\""))),
        ("another file under no tag", .serving(.file(Content.random(seed: 42, count: 4 << 20 + 1), etag: nil))),
    ]

    @Test(arguments: refusals.indices) func finishesOverOneConnectionWhenServerRefusesSecond(_ index: Int) async throws
    {
        let stage = try await Stage()
        stage.origin.serve("/f", .file(bytes), Self.slow, Self.refusals[index].1.on(2...))
        let job = try await stage.api.waitForJob(stage.submit(8), .succeeded)
        #expect(stage.isDownloaded(bytes), "\(Self.refusals[index].0)")
        // The first response continued to its end.
        #expect(job["attempts"] == 1)
        #expect(job["receipt"]["etag"] == "\"v1\"")
        #expect(stage.origin.requests.count <= 8)
    }

    /// The first connection reaches the end of its segment before the second is refused, and then fetches the rest.
    @Test(arguments: ["everything", "another file", "a refusal"])
    func finishesOverOneConnectionWhenRefusalComesLate(_ fault: String) async throws {
        let (stage, begin, gate) = (try await Stage(), Gate(), Gate())
        let refusal: OriginBehaviour =
            switch fault {
            case "everything": .ignoringRanges
            case "another file": .serving(.file(Content.random(seed: 43, count: 4 << 20), etag: "\"v2\""))
            default: .answering(403)
            }
        let first = OriginBehaviour.waiting(at: 1000, for: begin).on(1...1)
        stage.origin.serve("/f", .file(bytes), first, refusal.on(2...), .waitingBeforeHead(for: gate).on(2...2))
        let id = try await stage.submit(2, ["retry": ["max_attempts": 1]])
        #expect(await gate.reached())
        begin.open()
        try await stage.api.waitForBytes(id, atLeast: Int64(bytes.count))
        gate.open()
        let job = try await stage.api.waitForJob(id, .succeeded)
        #expect(stage.isDownloaded(bytes))
        #expect(job["attempts"] == 1)
        #expect(stage.origin.requests(to: "/f").count == 2)
    }

    /// A range that claims to start earlier than it does is not trimmed: its bytes would be written at wrong offsets.
    @Test func rejectsRangeThatStartsBeforeItsContent() async throws {
        let stage = try await Stage()
        let early = OriginBehaviour(spoil: { answer, _ in
            let told = answer.header("Content-Range").flatMap(ContentRange.init)
            guard case .bytes(let first, let last, let total?)? = told else { return }
            answer.set("Content-Range", "bytes \(first - 1000)-\(last)/\(total)")
        })
        stage.origin.serve("/f", .file(bytes), Self.slow, .chunked(), early.on(2...))
        try await stage.api.waitForJob(stage.submit(4), .succeeded)
        #expect(stage.isDownloaded(bytes))
    }

    // MARK: Failures and interruptions

    @Test func replacesBrokenConnections() async throws {
        let stage = try await Stage()
        stage.origin.serve("/f", .file(bytes), .resetting(after: 500_000))
        try await stage.api.waitForJob(stage.submit(4), .succeeded)
        #expect(stage.isDownloaded(bytes))
    }

    @Test func reassignsSegmentOfSilentConnection() async throws {
        let stage = try await Stage()
        stage.origin.serve("/f", .file(bytes), .stalling(after: 100_000).on(2...2))
        let job = try await stage.api.waitForJob(stage.submit(2), .succeeded)
        #expect(stage.isDownloaded(bytes))
        // Long before its own request timeout of a minute.
        #expect(job["attempts"] == 1)
    }

    @Test func resumesOnlyMissingRangesAfterPause() async throws {
        let stage = try await Stage()
        let gate = Gate()
        stage.origin.serve("/f", .file(bytes), .waiting(at: 200_000, for: gate).first(4))
        let id = try await stage.submit(4)
        #expect(await gate.reached(by: 4))
        try await stage.api.waitForBytes(id, atLeast: 800_000)
        try await stage.api.act(.pause, on: id)
        let part = try #require(try await stage.api.resumeData(of: id))
        let ranges = try #require(part["ranges"].arrayValue)
        #expect(ranges.count == 4)
        #expect(part["bytes_durable"] == 800_000)
        let before = stage.origin.requests.count
        try await stage.api.act(.resume, on: id)
        let job = try await stage.api.waitForJob(id, .succeeded)
        #expect(stage.isDownloaded(bytes))
        #expect(job["resume"] == ["decision": "resumed", "why": nil, "offset": 800_000])
        expectNothingTwice(stage.origin.requests.dropFirst(before).map { $0.header("Range") }, ranges)
    }

    @Test func resumesOnlyMissingRangesAfterKill() async throws {
        let stage = try await Stage()
        let gate = Gate()
        stage.origin.serve("/f", .file(bytes), .waiting(at: 300_000, for: gate).first(4))
        let id = try await stage.submit(4)
        #expect(await gate.reached(by: 4))
        let part = try await eventually("the checkpoint") {
            try await stage.api.resumeData(of: id).flatMap { $0["bytes_durable"] == 1_200_000 ? $0 : nil }
        }
        let ranges = try #require(part["ranges"].arrayValue)
        #expect(ranges.count == 4)
        try await stage.fetchd.kill()
        let before = stage.origin.requests.count
        gate.open()
        try await stage.fetchd.restart()
        let job = try await stage.api.waitForJob(id, .succeeded)
        #expect(stage.isDownloaded(bytes))
        #expect(job["resume"]["offset"] == 1_200_000)
        #expect(job["file"]["sha256"].string == SHA.hexadecimal(of: bytes))
        expectNothingTwice(stage.origin.requests.dropFirst(before).map { $0.header("Range") }, ranges)
    }

    /// With one connection the missing ranges are fetched gap by gap.
    @Test func fillsGapsOverOneConnection() async throws {
        let stage = try await Stage()
        let gate = Gate()
        stage.origin.serve("/f", .file(bytes), .waiting(at: 200_000, for: gate).first(4))
        let id = try await stage.submit(4)
        #expect(await gate.reached(by: 4))
        try await stage.api.waitForBytes(id, atLeast: 800_000)
        try await stage.api.act(.pause, on: id)
        try await stage.api.change(id, ["connections": 1])
        let part = try await stage.api.resumeData(of: id)
        let ranges = (part?["ranges"].arrayValue ?? []).compactMap { range in
            range[0].integer.flatMap { first in range[1].integer.map { first..<$0 } }
        }
        try #require(ranges.count == 4 && ranges.allSatisfy { $0.count == 200_000 })
        let before = stage.origin.requests.count
        try await stage.api.act(.resume, on: id)
        try await stage.api.waitForJob(id, .succeeded)
        #expect(stage.isDownloaded(bytes))
        let expected = zip(ranges, ranges.dropFirst()).map { "bytes=\($0.upperBound)-\($1.lowerBound - 1)" }
        let asked = stage.origin.requests.dropFirst(before).map { $0.header("Range") }
        #expect(asked.dropLast().compactMap(\.self) == expected)
        #expect(asked.last??.hasPrefix("bytes=\(ranges[3].upperBound)-") == true)
    }

    @Test func removesPartAndConnectionsOfCancelledJob() async throws {
        let stage = try await Stage()
        let gate = Gate()
        stage.origin.serve("/f", .file(bytes), .waiting(at: 200_000, for: gate))
        let id = try await stage.submit(4)
        #expect(await gate.reached(by: 4))
        try await stage.api.act(.cancel, on: id)
        #expect(try await stage.api.resumeData(of: id) == nil)
        #expect(try await stage.fetchd.partFilesAreRemoved())
        #expect(await stage.origin.waitForSilence())
    }

    // MARK: Mirrors

    @Test func fetchesFromAllMirrorsTogether() async throws {
        let (stage, gate) = (try await Stage(), Gate())
        stage.origin.serve("/f", .file(bytes), .waiting(at: 1000, for: gate))
        stage.mirror.serve("/f", .file(bytes))
        let id = try await stage.submitToBoth(4)
        #expect(await stage.mirror.waitForRequests("/f", count: 2))
        gate.open()
        let job = try await stage.api.waitForJob(id, .succeeded)
        #expect(stage.isDownloaded(bytes))
        #expect(job["attempts"] == 1)
    }

    @Test(arguments: ["\"other\"", "W/\"v1\"", nil]) func takesNoBytesFromMirrorWithAnotherValidator(_ etag: String?)
        async throws
    {
        let other = Content.random(seed: 43, count: bytes.count)
        let stage = try await downloadBesideMirror(serving: .file(other, etag: etag))
        #expect(stage.isDownloaded(bytes))
        // Only the first connections try the mirror.
        #expect((1...2).contains(stage.mirror.requests.count))
    }

    @Test func takesNoBytesFromMirrorWithAnotherSize() async throws {
        let stage = try await downloadBesideMirror(serving: .file(bytes + [1]))
        #expect(stage.isDownloaded(bytes))
        // Only the first connections try the mirror.
        #expect((1...2).contains(stage.mirror.requests.count))
    }

    /// The responses of the origin wait until the mirror is requested.
    private func downloadBesideMirror(serving resource: OriginResource) async throws -> Stage {
        let (stage, gate) = (try await Stage(), Gate())
        stage.origin.serve("/f", .file(bytes), .waiting(at: 1000, for: gate))
        stage.mirror.serve("/f", resource, .ignoringConditions)
        let id = try await stage.submitToBoth(4)
        #expect(await stage.mirror.waitForRequests("/f"))
        gate.open()
        try await stage.api.waitForJob(id, .succeeded)
        return stage
    }

    // MARK: -

    /// Checks that no durable byte is requested again.
    private func expectNothingTwice(_ asked: [String?], _ ranges: [JSON]) {
        let had = ByteRanges(pairs: ranges.map { $0.arrayValue?.compactMap(\.integer) ?? [] }) ?? ByteRanges()
        #expect(!had.isEmpty)
        for range in asked {
            let ends = range?.dropFirst("bytes=".count).split(separator: "-").compactMap { Int64($0) } ?? []
            guard let first = ends.first else {
                Issue.record("everything was asked for")
                continue
            }
            let end = ends.count > 1 ? ends[1] + 1 : Int64(bytes.count)
            let isNew = had.intersection(ByteRanges(first..<end)).isEmpty
            #expect(isNew, "\(range ?? "")")
        }
    }
}
