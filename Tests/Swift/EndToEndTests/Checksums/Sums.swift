import Base
import Formats
import Foundation
import HTTPSemantics
import TestKit

/// Hashes in the notations of clients and servers.
enum Sums {
    static func bytes(_ algorithm: Checksum.Algorithm, of bytes: [UInt8]) -> [UInt8] {
        switch algorithm {
        case .sha256: HashFunction.sha256.hash(bytes)
        case .sha512: HashFunction.sha512.hash(bytes)
        case .sha1: HashFunction.sha1.hash(bytes)
        case .md5: HashFunction.md5.hash(bytes)
        case .crc32: HashFunction.crc32.hash(bytes)
        case .crc32c: HashFunction.crc32c.hash(bytes)
        case .crc64nvme: HashFunction.crc64nvme.hash(bytes)
        }
    }

    static func hexadecimal(_ algorithm: Checksum.Algorithm, of bytes: [UInt8]) -> String {
        Self.bytes(algorithm, of: bytes).hexadecimal
    }

    /// A job's `checksum`.
    static func member(_ algorithm: Checksum.Algorithm, of bytes: [UInt8]) -> (String, JSON) {
        ("checksum", ["algorithm": .string(algorithm.rawValue), "value": .string(hexadecimal(algorithm, of: bytes))])
    }

    static func base64(_ algorithm: Checksum.Algorithm, of bytes: [UInt8]) -> String {
        Data(Self.bytes(algorithm, of: bytes)).base64EncodedString()
    }

    /// A value of `Repr-Digest` or `Content-Digest`.
    static func field(_ algorithm: Checksum.Algorithm, of bytes: [UInt8]) -> String {
        let name = algorithm == .sha1 ? "sha" : algorithm.rawValue
        return "\(name)=:\(base64(algorithm, of: bytes)):"
    }
}

extension Scene {
    /// Submits an order for a path and waits until the job has succeeded or failed. Retries come quickly.
    func outcome(_ path: String, _ members: (String, JSON)...) async throws -> JSON {
        var order: JSONObject = ["url": .string(origin.url(path)), "retry": ["base_seconds": 0.01]]
        for (name, value) in members { order[name] = value }
        return try await api.waitForOutcome(api.submit(.object(order)))
    }

    /// Whether the downloaded file has these bytes. (A failed comparison of arrays would print too much.)
    func has(_ name: String, _ bytes: [UInt8]) -> Bool { fetchd.downloaded(name) == bytes }

    /// Whether a job failed with `checksum_mismatch` and left neither a file nor a part.
    func isGone(_ job: JSON) async throws -> Bool {
        let part = try await api.resumeData(of: job["id"].string ?? "")
        guard job["failure"]["code"] == "checksum_mismatch", job["state"] == "failed", job["file"] == .null,
            job["receipt"] == .null, job["progress"]["bytes_durable"] == 0, part == nil
        else { return false }
        // The failure is committed before the part file is removed.
        return try await eventually("the part file to be removed") {
            fetchd.folder.files.contains { $0.hasPrefix("downloads/") } ? nil : true
        }
    }

    /// The reasons of a job's restarts, from its events.
    func restarts(of job: JSON) async throws -> [String] {
        try await api.events(of: job["id"].string).filter { $0["type"] == "job.restarted" }
            .compactMap { $0["data"]["why"].string }
    }

    /// The failure codes of a job's waits.
    func waits(of job: JSON) async throws -> [String] {
        try await api.events(of: job["id"].string).filter { $0["type"] == "job.waiting" }
            .compactMap { $0["data"]["failure"]["code"].string }
    }

    /// Waits until the given number of bytes is durable: synced, and committed after that.
    func waitForPromise(of id: String, atLeast count: Int64) async throws {
        _ = try await eventually("\(count) bytes of \(id) to be durable") {
            try await api.resumeData(of: id).flatMap { ($0["bytes_durable"].integer ?? 0) >= count ? true : nil }
        }
    }

    func ranges(_ path: String) -> [String?] { origin.requests(to: path).map { $0.header("Range") } }
}
