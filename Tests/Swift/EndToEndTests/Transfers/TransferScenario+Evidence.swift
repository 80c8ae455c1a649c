import Formats
import TestKit
import Testing

extension TransferScenario {
    /// Nothing but equal bytes shows that two responses have one version.
    static let evidence: [TransferScenario] = [
        .init("half of the file, a weak `ETag`, to a job with `evidence`") { trial in
            let ending = try await trial.goOn(from: .file(trial.file, etag: "W/\"v1\""), with: byEvidence)
            let ranges = trial.ranges
            #expect(ranges.count == 5 && ranges[0] == nil && ranges[4] == "bytes=34464-")
            #expect(trial.fetchedTwice <= (64 + 48) << 10)
            #expect(trial.requests.allSatisfy { $0.header("If-Range") == nil })
            #expect(ending.job["receipt"]["resumed_by"] == "evidence")
            return ending
        },
        .init("half of another file under the same weak `ETag`, to a job with `evidence`") { trial in
            let ending = try await trial.change(
                from: .file(trial.other, etag: "W/\"v1\""), to: .file(trial.file, etag: "W/\"v1\""), byEvidence)
            #expect(ending.job["receipt"]["resumed_by"] == .null)
            return ending
        },
        .init("half of a file that differs in its last byte before the half, to a job with `evidence`") { trial in
            var former = trial.file
            former[Trial.half - 1] ^= 1
            let ending = try await trial.change(
                from: .file(former, etag: "W/\"v1\""), to: .file(trial.file, etag: "W/\"v1\""), byEvidence)
            // The samples before it are equal.
            #expect(trial.ranges.count == 6)
            return ending
        },
        .init("half of the file, no `ETag`, of this second, to a job with `evidence`") {
            try await $0.goOn(from: .file($0.file, modified: "Mon, 19 Aug 2019 15:23:14 GMT"), with: byEvidence)
        },
        .init("half of the file, then another strong `ETag` with the same date, to a job with `evidence`") {
            try await $0.change(from: .dated($0.file, "\"v1\""), to: .dated($0.file, "\"v2\""), byEvidence)
        },
        .init("half of the file, then another strong `ETag` with the same date") {
            try await $0.change(from: .dated($0.file, "\"v1\""), to: .dated($0.file, "\"v2\""), [:])
        },
        .init("half of the file, then the same strong `ETag` with another date") { trial in
            let ending = try await trial.change(
                from: .dated(trial.file, "\"v1\""), to: .dated(trial.file, "\"v1\"", "Tue, 20 Aug 2019 15:23:14 GMT"),
                [:])
            #expect(ending.job["receipt"]["resumed_by"] == "evidence")
            return ending
        },
        .init("half of another file, then the same strong `ETag` with another date") {
            try await $0.change(
                from: .dated($0.other, "\"v1\""), to: .dated($0.file, "\"v1\"", "Tue, 20 Aug 2019 15:23:14 GMT"), [:])
        },
        .init("half of the file, a weak `ETag`, then the same with another date, to a job with `evidence`") {
            try await $0.change(
                from: .dated($0.file, "W/\"v1\""), to: .dated($0.file, "W/\"v1\"", "Tue, 20 Aug 2019 15:23:14 GMT"),
                byEvidence)
        },
    ]

    private static let byEvidence: JSONObject = ["resume_policy": "evidence"]
}

extension OriginResource {
    fileprivate static func dated(
        _ bytes: [UInt8], _ etag: String, _ date: String = "Mon, 19 Aug 2019 15:23:14 GMT"
    ) -> OriginResource {
        .file(bytes, etag: etag, lastModified: date, headers: [("Date", "Fri, 23 Aug 2019 15:23:14 GMT")])
    }
}

extension Trial {
    fileprivate var ranges: [String?] { requests.map { $0.header("Range") } }

    /// The bytes of the samples, and those before the half that the last request has asked for again.
    fileprivate var fetchedTwice: Int {
        ranges.compactMap { $0?.dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) } }.reduce(0) {
            $0 + ($1.count == 2 ? $1[1] - $1[0] + 1 : Trial.half - $1[0])
        }
    }

    /// Serves half of one file, and then another.
    fileprivate func change(
        from former: OriginResource, to next: OriginResource, _ members: JSONObject
    ) async throws -> Ending {
        try await goOn(.serving(next), from: former, with: members)
    }
}
