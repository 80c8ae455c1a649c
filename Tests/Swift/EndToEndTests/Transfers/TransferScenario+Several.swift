import Downloads
import Formats
import TestKit
import Testing

/// Four connections to one file.
extension TransferScenario {
    static let several = together + alone + broken + mirrored

    private static let together: [TransferScenario] = [
        .init("every range as asked") { trial in
            let ending = try await trial.share(requests: 4...100)
            #expect(trial.requests.first?.header("Range") == "bytes=0-")
            #expect(trial.requests.dropFirst().allSatisfy { $0.header("If-Range") == "\"v1\"" })
            return ending
        }
    ]

    /// Servers that support at most one connection.
    private static let alone: [TransferScenario] = [
        .init("200 to every range") { try await $0.share(.ignoringRanges, requests: 1...1) },
        .init("a weak `ETag`") { try await $0.share(.header("ETag", "W/\"v1\""), requests: 1...1) },
        .init("a first range of `*` bytes") {
            try await $0.share(.contentRange("bytes 0-1999999/*"), requests: 2...2)
        },
        .init("a first range as gzip") { try await $0.share(.gzipped.once, requests: 2...2) },
        .init("416 to the first range") { try await $0.share(.answering(416).once, requests: 2...2) },
        .init("one range, and 503 to all others") { try await $0.share(.answering(503).on(2...), requests: 2...4) },
        .init("one range, and everything to all others") {
            try await $0.share(.ignoringRanges.on(2...), requests: 2...4)
        },
        .init("one range, and then another file under the same length") { trial in
            try await trial.share(.serving(.file(trial.wide().other, etag: "\"v2\"")).on(2...), requests: 2...4)
        },
        .init("one range, and then ranges that begin elsewhere") {
            try await $0.share(.shiftingRanges(by: 1000).on(2...), requests: 2...4)
        },
    ]

    private static let broken: [TransferScenario] = [
        .init("a reset after 300,000 bytes, on every connection") {
            try await $0.share(.resetting(after: 300_000), requests: 7...100)
        },
        .init("silence after 100,000 bytes of the second range") {
            try await $0.share(.stalling(after: 100_000).on(2...2))
        },
        .init("the whole file in chunks, as every further range") { trial in
            let ending = try await trial.share(.wholeFileUnderTheHeadOfARange.on(2...))
            #expect(trial.requests.last?.header("Range") == nil)
            return ending
        },
    ]

    private static let mirrored: [TransferScenario] = [
        .init("ranges, and so does a mirror") { trial in
            let ending = try await trial.share(besideA: .file(trial.wide().file), takesBytes: true)
            #expect(trial.requestsToMirror.count >= 2)
            return ending
        },
        .init("ranges, and a mirror has another `ETag`") { trial in
            try await trial.share(besideA: .file(trial.wide().other, etag: "\"v2\""), takesBytes: false)
        },
        .init("the same, with a `checksum`") { trial in
            let ending = try await trial.share(
                besideA: .file(trial.wide().file, etag: "\"mirror\""), takesBytes: true, with: trial.wide().checksum)
            #expect(trial.requestsToMirror.count >= 2)
            return ending
        },
        .init("other bytes under the same size from a mirror, with a `checksum`") { trial in
            let ending = try await trial.share(
                besideA: .file(trial.wide().other, etag: "\"mirror\""), takesBytes: true, with: trial.wide().checksum)
            #expect(ending.job["attempts"] == 2)
            return ending
        },
        .init("ranges, and a mirror has another size") { trial in
            try await trial.share(besideA: .file(trial.wide().file + [0]), takesBytes: false)
        },
        .init("ranges, and fetchd is killed half-way") { trial in
            let fetchd = try await FetchdProcess.start()
            let (wide, gate) = (trial.alone(fetchd).wide(), Gate())
            wide.origin.serve(wide.path, .file(wide.file), .waiting(at: 100_000, for: gate).first(4))
            let id = try await wide.submit(with: ["connections": 4])
            #expect(await gate.reached(by: 4))
            let part = try await eventually("a checkpoint of all four") {
                try await wide.api.resumeData(of: id).flatMap { $0["bytes_durable"] == 400_000 ? $0 : nil }
            }
            // Where the other connections begin depends on the bytes that the first one had received before.
            let ranges = part["ranges"].arrayValue ?? []
            #expect(ranges.first == [0, 100_000] && ranges.count == 4)
            #expect(
                ranges.allSatisfy { range in
                    range[1].integer.flatMap { end in range[0].integer.map { end - $0 } } == 100_000
                })
            try await fetchd.kill()
            gate.open()
            try await fetchd.restart()
            let ending = try await wide.ending(of: id)
            #expect(ending.job["resume"]["offset"] == 400_000)
            return ending
        },
    ]
}

extension Trial {
    private static let rate = OriginBehaviour.limited(bytesPerSecond: 1 << 20)

    /// The bytes that a connection gets while the scenario waits for others.
    private static let held = 100_000

    /// Downloads a larger file over four connections from a server with the given behaviours.
    ///
    /// - Parameter requests: their number in the end.
    fileprivate func share(_ behaviours: OriginBehaviour..., requests: ClosedRange<Int>? = nil) async throws -> Ending {
        let (wide, gate) = (wide(), Gate())
        origin.serve(
            path, .file(wide.file), [Self.rate, .waiting(at: Self.held, for: gate).once] + behaviours)
        let id = try await wide.submit(with: ["connections": 4])
        // The first response does not end before the other connections begin.
        #expect(await origin.waitForRequests(path, count: min(requests?.lowerBound ?? 2, 4)))
        gate.open()
        let ending = try await wide.ending(of: id)
        if let requests { #expect(requests.contains(self.requests.count), "\(self.requests.count) requests") }
        return ending
    }

    private var mirrorPath: String { "/mirror\(path)" }
    fileprivate var requestsToMirror: [RecordedRequest] { origin.requests(to: mirrorPath) }

    fileprivate var checksum: JSONObject {
        ["checksum": ["algorithm": "sha-256", "value": .string(SHA.hexadecimal(of: file))]]
    }

    /// Downloads a larger file over four connections from a server and a mirror.
    ///
    /// - Parameter takesBytes: whether the job takes bytes from the mirror.
    fileprivate func share(
        besideA mirror: OriginResource, takesBytes: Bool, with members: JSONObject = [:]
    ) async throws -> Ending {
        let (wide, gate) = (wide(), Gate())
        origin.serve(path, .file(wide.file), Self.rate, .waiting(at: Self.held, for: gate))
        origin.serve(mirrorPath, mirror, .ignoringConditions, Self.rate)
        var order: JSONObject = [
            "url": nil, "urls": [.string(url), .string(origin.url(mirrorPath))], "connections": 4,
        ]
        for (name, value) in members.members { order[name] = value }
        let id = try await wide.submit(with: order)
        #expect(await origin.waitForRequests(mirrorPath, count: takesBytes ? 2 : 1))
        // More bytes than four connections to the server get.
        if takesBytes { try await api.waitForBytesOfFirstAttempt(id, atLeast: Int64(4 * Self.held + 1)) }
        gate.open()
        return try await wide.ending(of: id)
    }
}
