import Foundation
import TestKit
import Testing

/// Responses to the first request.
extension TransferScenario {
    static let beginning = wellMeant + endless + brokenOff + unreadable + refused + unwanted

    private static let wellMeant: [TransferScenario] = [
        .init("the file with its length") { trial in
            let ending = try await trial.begin()
            #expect(trial.requests.map { $0.header("Accept-Encoding") } == ["identity"])
            #expect(trial.requests.allSatisfy { $0.header("Range") == nil && $0.header("If-Range") == nil })
            return ending
        },
        .init("the file in chunks") { try await $0.begin(.chunked()) },
        .init("an empty file") { trial in
            let ending = try await trial.begin(from: .file([]))
            #expect(ending.job["progress"]["fraction"] == 1)
            return ending
        },
        .init("the file, under 203") {
            try await $0.begin(OriginBehaviour(spoil: { answer, _ in answer.status = 203 }))
        },
        .init("HTTP/1.0") { trial in
            let ending = try await trial.begin(.http10)
            #expect(ending.job["receipt"]["protocol"] == "HTTP/1.0")
            return ending
        },
        .init("the file, over IPv6", if: Loopback.v6.isAvailable) { trial in
            let origin = try Origin(at: .v6)
            origin.serve(trial.path, .file(trial.file))
            let ending = try await trial.download(origin.url(trial.path))
            #expect(ending.job["receipt"]["remote_address"] == "::1")
            return ending
        },
        .init("100, 102 and 103 before the answer") { try await $0.begin(.interim([100, 102, 103])) },
        .init("100 KiB of header fields") { try await $0.begin(.hugeHead(bytes: 100 * 1024)) },
        .init("206 with the whole file") { try await $0.begin(.rangeUnasked()) },
        .init("more bytes than its length says") { trial in
            let excess = OriginBehaviour(spoil: { answer, _ in answer.body += Array("HTTP/1.1 404 No\r\n\r\n".utf8) })
            let ending = try await trial.begin(excess, .claimingLength(Trial.size))
            // The bytes beyond the length are not taken for a response.
            #expect(try await trial.download().job["state"] == "succeeded")
            #expect(Set(trial.requests.map(\.connection)).count == 2)
            return ending
        },
        .init("503 once") { try await $0.begin(.answering(503).once) },
    ]

    private static let endless: [TransferScenario] = [
        .init("no length, and closes") { try await $0.begin(.withoutLength) },
        .init("no length, and closes too early") {
            try await $0.begin(.withoutLength, .closing(after: Trial.half))
        },
        .init("the same once, with `expected_size`") {
            try await $0.begin(
                .withoutLength.once, .closing(after: Trial.half).once,
                with: ["expected_size": .count(Trial.size)])
        },
        .init("gzip that fetchd did not request") { try await $0.begin(.gzipped) },
        .init("the same, broken off once") { try await $0.begin(.gzipped, .closing(after: Trial.half).once) },
    ]

    private static let brokenOff: [TransferScenario] = [
        .init("half of the file once") { try await $0.goOn() },
        .init("half of the chunks once") { try await $0.begin(.chunked().once, .closing(after: Trial.half).once) },
        .init("64 KiB and a reset, on every connection") { trial in
            let ending = try await trial.begin(.resetting(after: 64 * 1024))
            #expect(trial.requests.count > 2)
            return ending
        },
        .init("half of the file once, no validators") { try await $0.goOn(from: .file($0.file, etag: nil)) },
        .init("half of the file once, modified in the second of the response") { trial in
            let (now, etag) = ("Mon, 19 Aug 2019 15:23:14 GMT", "\"5d5abb02-30d40\"")
            let file = OriginResource.file(trial.file, etag: etag, lastModified: now, headers: [("Date", now)])
            return try await trial.begin(.closing(after: Trial.half).once, from: file)
        },
        .init("half of the file once, a weak `ETag`") { trial in
            let ending = try await trial.goOn(from: .file(trial.file, etag: "W/\"v1\""))
            #expect(trial.requests.map { $0.header("Range") } == [nil, nil])
            return ending
        },
        .init("half of the file once, `Last-Modified` only, an hour old") { trial in
            let ending = try await trial.goOn(from: .file(trial.file, modified: "Mon, 19 Aug 2019 14:23:14 GMT"))
            #expect(trial.requests.last?.header("If-Range") == "Mon, 19 Aug 2019 14:23:14 GMT")
            return ending
        },
        .init("half of the file once, `Last-Modified` only, of this second") {
            try await $0.goOn(from: .file($0.file, modified: "Mon, 19 Aug 2019 15:23:14 GMT"))
        },
        .init("half of the file each time, no validators") {
            try await $0.begin(.closing(after: Trial.half), from: .file($0.file, etag: nil))
        },
    ]

    private static let unreadable: [TransferScenario] = [
        .init("nothing, and closes") { try await $0.begin(.hangingUp) },
        .init("a reset instead of an answer") { try await $0.begin(.resettingBeforeHead) },
        .init("bytes that are not HTTP") { try await $0.begin(.garbage()) },
        .init("101, unasked") { try await $0.begin(.answering(101)) },
        .init("300 KiB of header fields") { try await $0.begin(.hugeHead(bytes: 300 * 1024)) },
        .init("two lengths that differ") { try await $0.begin(.header("Content-Length", "5")) },
        .init("a transfer coding that fetchd did not request") {
            try await $0.begin(.header("Transfer-Encoding", "gzip, chunked"), .unframed, .closingConnection)
        },
    ]

    private static let refused: [TransferScenario] =
        [
            .init("206 with a piece of the file") { try await $0.begin(.rangeUnasked(0..<Trial.half)) },
            .init("206 in several parts") { try await $0.begin(.rangeUnasked(), .multipartRanges) },
        ]
        + [204, 304, 401, 404, 416, 500].map { status in
            .init("\(status)") { trial in
                let ending = try await trial.begin(from: .fixed(status: status, body: Trial.page))
                #expect(ending.job["failure"]["status"] == .count(status))
                // Only transient failures are retried.
                #expect(trial.requests.count == (status == 500 ? 2 : 1))
                return ending
            }
        } + [
            .init("401 with a challenge") { try await $0.begin(.demandingBasic("ada", "secret")) }
        ]

    private static let unwanted: [TransferScenario] = [
        .init("another length than `expected_size`") { try await $0.begin(with: ["expected_size": 5]) },
        .init("a length beyond `max_size`") { try await $0.begin(with: ["max_size": 150_000]) },
        .init("chunks beyond `max_size`") { trial in
            let gate = Gate()
            trial.origin.serve(trial.path, .file(trial.file), .chunked(), .waiting(at: Trial.half, for: gate))
            let id = try await trial.submit(with: ["max_size": .count(Trial.half)])
            try await trial.api.waitForBytes(id, atLeast: Int64(Trial.half))
            gate.open()
            return try await trial.ending(of: id)
        },
    ]
}

extension OriginResource {
    /// A file without an ETag, with a modification date only.
    static func file(_ bytes: [UInt8], modified: String, asked: String = "Mon, 19 Aug 2019 15:23:14 GMT")
        -> OriginResource
    {
        .file(bytes, etag: nil, lastModified: modified, headers: [("Date", asked)])
    }
}
