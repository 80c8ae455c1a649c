import Downloads
import Foundation
import TestKit
import Testing

/// Responses to a request for the rest of a file.
extension TransferScenario {
    static let goingOn = theRest + notTheRest + anotherFile + theWhole + nothingLeft + refusedNow + lostHere

    private static let theRest: [TransferScenario] = [
        .init("206 with the rest") { trial in
            let ending = try await trial.goOn()
            #expect(trial.requests.map { $0.header("Range") } == [nil, "bytes=100000-"])
            #expect(trial.requests.map { $0.header("If-Range") } == [nil, "\"v1\""])
            #expect(ending.job["resume"]["offset"] == 100_000)
            return ending
        },
        .init("206 with the rest, of `*` bytes") { try await $0.goOn(.contentRange("bytes 100000-199999/*")) },
        .init("206 with the rest, in chunks") { try await $0.goOn(.chunked()) },
        .init("206 without a length, closed early once") { trial in
            let ending = try await trial.goOn(.withoutLength, .closing(after: 50_000).first(2))
            #expect(trial.requests.map { $0.header("Range") } == [nil, "bytes=100000-", "bytes=150000-"])
            return ending
        },
        .init("206 that begins 1000 bytes earlier") { try await $0.goOn(.shiftingRanges(by: -1000)) },
        .init("206 with the whole file") { try await $0.goOn(.rangeUnasked(), .ignoringRanges) },
        .init("a redirect to another address each time, and 206 there") { trial in
            // Like links that are signed for an hour.
            for visit in 1...2 { trial.origin.serve("\(trial.path)/\(visit)", .file(trial.file)) }
            trial.origin.serve("\(trial.path)/1", .file(trial.file), .closing(after: Trial.half))
            return try await trial.begin(
                .serving(.redirect(to: "\(trial.path)/1")).once, .serving(.redirect(to: "\(trial.path)/2")).on(2...))
        },
        .init("503 once, then 206") { trial in
            let ending = try await trial.goOn(.answering(503).first(2), with: ["retry": ["base_seconds": 0.01]])
            #expect(trial.requests.map { $0.header("Range") } == [nil, "bytes=100000-", "bytes=100000-"])
            return ending
        },
    ]

    private static let notTheRest: [TransferScenario] = [
        .init("206 that begins 1000 bytes later") { try await $0.goOn(.shiftingRanges(by: 1000)) },
        .init("206 that ends before the end") { try await $0.goOn(.cappingRanges(at: 50_000)) },
        .init("206 that says it begins elsewhere") { try await $0.goOn(.contentRange("bytes 100001-199999/200000")) },
        .init("206 of another total") { try await $0.goOn(.contentRange("bytes 100000-199999/300000")) },
        .init("206 whose length is not that of its range") {
            try await $0.goOn(.claimingLength(99_999).once(2), .closingConnection)
        },
        .init("206 without a `Content-Range`") { try await $0.goOn(.header("Content-Range", nil)) },
        .init("206 whose `Content-Range` cannot be read") { try await $0.goOn(.contentRange("bytes half of it")) },
        .init("206 in several parts") { try await $0.goOn(.multipartRanges) },
        .init("206 as gzip") { try await $0.goOn(.gzipped.once(2)) },
        .init("206 in chunks that turn out to be the whole file") { trial in
            let ending = try await trial.goOn(.wholeFileUnderTheHeadOfARange)
            #expect(trial.requests.map { $0.header("Range") } == [nil, "bytes=100000-", nil])
            let types = try await trial.api.types(of: ending.job["id"].string ?? "")
            #expect(types.suffix(3) == ["job.resumed", "job.restarted", "job.succeeded"])
            return ending
        },
        .init("the same once, and then 404") {
            try await $0.goOn(.wholeFileUnderTheHeadOfARange, .answering(404).on(3...))
        },
        .init("206 to every request, and never what was asked for") {
            try await $0.goOn(.shiftingRanges(by: 1000), .rangeUnasked(1000..<Trial.size))
        },
    ]

    private static let anotherFile: [TransferScenario] = [
        .init("206 of another file, with its `ETag`") {
            try await $0.goOn(.serving(.file($0.other, etag: "\"v2\"")), .ignoringConditions)
        },
        .init("206 of another file, without an `ETag`") {
            try await $0.goOn(.serving(.file($0.other, etag: nil)), .ignoringConditions)
        },
        .init("206 with the `ETag` turned weak") { try await $0.goOn(.header("ETag", "W/\"v1\"")) },
        .init("200 with another file of the same length") { trial in
            try await trial.goOn(.serving(.file(trial.other, etag: "\"v2\"")))
        },
        .init("200 with another file of as many bytes as were had") {
            try await $0.goOn(.serving(.file(Array($0.other.prefix(Trial.half)), etag: nil)), .ignoringRanges)
        },
        .init("200 with another file, broken off; then 206 with its rest") { trial in
            let ending = try await trial.goOn(
                .serving(.file(trial.other, etag: "\"v2\"")), .closing(after: 150_000).first(2))
            #expect(trial.requests.map { $0.header("Range") } == [nil, "bytes=100000-", "bytes=150000-"])
            #expect(trial.requests.last?.header("If-Range") == "\"v2\"")
            return ending
        },
        .init("200 with another `Last-Modified`, where there is no `ETag`") { trial in
            try await trial.goOn(
                .serving(.file(trial.other, modified: "Mon, 19 Aug 2019 15:00:00 GMT")),
                from: .file(trial.file, modified: "Mon, 19 Aug 2019 14:23:14 GMT"))
        },
    ]

    private static let theWhole: [TransferScenario] = [
        .init("200 with the file") { try await $0.goOn(.ignoringRanges) },
        .init("200 with the rest") { try await $0.goOn(.rangesUnder(status: 200)) },
        .init("200 with the rest, and no `Content-Range`") {
            // 150,000 bytes are received first, so that the rest has another size.
            try await $0.begin(
                .closing(after: 150_000).once, .rangesUnder(status: 200), .header("Content-Range", nil))
        },
        .init("200 with a page to log in") { try await $0.goOn(.serving(.fixed(body: Trial.page))) },
        .init("the same page, with `expected_size`") {
            try await $0.goOn(
                .serving(.fixed(body: Trial.page)), with: ["expected_size": .count(Trial.size)])
        },
    ]

    private static let nothingLeft: [TransferScenario] = [
        .init("416 with the total that was known") { try await $0.goOn(.unsatisfiable(total: Trial.size).once(2)) },
        .init("416 with another total") { try await $0.goOn(.unsatisfiable(total: 150_000).once(2)) },
        .init("416 without a total") { try await $0.goOn(.answering(416).once(2)) },
        .init("416 with that total, when all was had but the end of the chunks") { trial in
            let ending = try await trial.begin(.chunked(), .closing(after: Trial.size))
            #expect(trial.requests.map { $0.header("Range") } == [nil, "bytes=200000-"])
            return ending
        },
        .init("416 with a smaller total, when all was had but the end of the chunks") {
            try await $0.begin(
                .chunked(), .closing(after: Trial.size).once, .unsatisfiable(total: 150_000).on(2...2))
        },
        .init("400 to the range") { try await $0.goOn(.answering(400).once(2)) },
        .init("400, also without a range") { try await $0.goOn(.answering(400)) },
    ]

    private static let refusedNow: [TransferScenario] =
        [204, 401, 403, 404, 410, 500].map { status in
            .init("\(status)") { trial in
                let ending = try await trial.goOn(.serving(.fixed(status: status, body: Trial.page)))
                #expect(ending.job["failure"]["status"] == .count(status))
                return ending
            }
        } + [
            .init("401 with a challenge") { try await $0.goOn(.demandingBasic("ada", "secret")) }
        ]

    /// The bytes were lost on the client's side.
    private static let lostHere: [TransferScenario] = [
        .init("206 with the rest, but the part file is gone") { trial in
            try await trial.damage { try FileManager.default.removeItem(atPath: $0) }
        },
        .init("206 with the rest, but the part file was cut short") { trial in
            try await trial.damage { guard truncate($0, 50_000) == 0 else { throw Overdue("\($0) to be shorter") } }
        },
    ]
}

extension OriginBehaviour {
    /// For the request with this number only.
    fileprivate func once(_ ordinal: Int) -> OriginBehaviour { on(ordinal...ordinal) }
}

extension Trial {
    /// A job fails with half of the file, the part is damaged, and the job is retried.
    fileprivate func damage(_ harm: (_ path: String) throws -> Void) async throws -> Ending {
        let failed = try await goOn(.answering(404).on(2...2))
        let id = failed.job["id"].string ?? ""
        try harm(part())
        try await api.act(.retry, on: id)
        return try await ending(of: id)
    }
}
