import Formats
import TestKit
import Testing

/// Digests of the file, from the server or the client.
extension TransferScenario {
    static let digests = said + inPieces + asked

    private static let said: [TransferScenario] = [
        .init("the file, with its `Repr-Digest` and `Content-MD5`") {
            try await $0.begin($0.reprDigest(of: $0.file), $0.contentMD5(of: $0.file))
        },
        .init("the file, with another `Repr-Digest`") { try await $0.begin($0.reprDigest(of: $0.other)) },
        .init("the file, with another `Content-MD5`") { try await $0.begin($0.contentMD5(of: $0.other)) },
        .init("the file, with a `Repr-Digest` that cannot be read") {
            try await $0.begin(.header("Repr-Digest", "sha-256=\(Sums.base64(.sha256, of: $0.other))"))
        },
        .init("no length, and closes, with a `Repr-Digest`") {
            try await $0.begin(.withoutLength, $0.reprDigest(of: $0.file))
        },
    ]

    private static let inPieces: [TransferScenario] = [
        .init("half of the file, then 206 with another `Repr-Digest` once") { trial in
            let ending = try await trial.goOn(trial.reprDigest(of: trial.other).on(2...2))
            #expect(trial.ranges == [nil, "bytes=100000-", nil])
            return ending
        },
        .init("half of the file, then 206 with another `Content-MD5`") {
            try await $0.goOn($0.contentMD5(of: $0.other))
        },
        .init("half of another file under the same `ETag`, with the `Repr-Digest` of the file") { trial in
            let ending = try await trial.begin(
                .serving(.file(trial.other)).once, .closing(after: Trial.half).once, trial.reprDigest(of: trial.file))
            #expect(trial.ranges == [nil, "bytes=100000-", nil])
            return ending
        },
    ]

    private static let asked: [TransferScenario] = [
        .init("half of the file, no validators, to a job with a `checksum`") { trial in
            let ending = try await trial.goOn(from: .file(trial.file, etag: nil), with: trial.checksum(of: trial.file))
            #expect(trial.ranges == [nil, "bytes=100000-"])
            return ending
        },
        .init("half of another file, no validators, to a job with a `checksum`") {
            try await $0.begin(
                .serving(.file($0.other, etag: nil)).once, .closing(after: Trial.half).once,
                from: .file($0.file, etag: nil), with: $0.checksum(of: $0.file))
        },
        .init("the file, each time in halves, to a job with another `checksum`") { trial in
            let ending = try await trial.begin(.closing(after: Trial.half), with: trial.checksum(of: trial.other))
            #expect(trial.ranges == [nil, "bytes=100000-", nil, "bytes=100000-"])
            return ending
        },
    ]
}

extension Trial {
    fileprivate var ranges: [String?] { requests.map { $0.header("Range") } }

    fileprivate func reprDigest(of bytes: [UInt8]) -> OriginBehaviour {
        .header("Repr-Digest", Sums.field(.sha512, of: bytes))
    }

    fileprivate func contentMD5(of bytes: [UInt8]) -> OriginBehaviour {
        .header("Content-MD5", Sums.base64(.md5, of: bytes))
    }

    fileprivate func checksum(of bytes: [UInt8]) -> JSONObject {
        let (name, value) = Sums.member(.sha256, of: bytes)
        return [name: value]
    }
}
