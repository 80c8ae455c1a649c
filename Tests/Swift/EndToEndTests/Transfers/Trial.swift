import Downloads
import Formats
import Foundation
import TestKit

/// One row of docs/transfers.md under test: a path of a misbehaving origin, and the service that downloads it.
struct Trial: Sendable {
    /// The final job, and the service that ran it.
    struct Ending: Sendable {
        let job: JSON
        let fetchd: any TestedService
    }

    static let size = 200_000
    /// The bytes sent before the first connection breaks.
    static let half = 100_000
    static let page = Array("<h1>Please log in</h1>\n".utf8)

    let number: Int
    let origin: Origin
    let fetchd: any TestedService
    /// The file, and its changed version; no other row has the same bytes.
    private(set) var file: [UInt8]
    private(set) var other: [UInt8]

    init(_ number: Int, _ origin: Origin, _ fetchd: some TestedService) {
        (self.number, self.origin, self.fetchd) = (number, origin, fetchd)
        file = Content.random(seed: UInt64(1000 + number), count: Self.size)
        other = Content.random(seed: UInt64(2000 + number), count: Self.size)
    }

    /// This row's own path.
    var path: String { "/\(number)" }
    var api: APIClient { fetchd.api }
    var url: String { origin.url(path) }
    var requests: [RecordedRequest] { origin.requests(to: path) }

    /// An order for a URL, with two attempts and without delays.
    func order(_ url: String? = nil, _ members: JSONObject = [:]) -> JSON {
        JSON.object([
            "url": .string(url ?? self.url), "retry": ["base_seconds": 0.01, "max_attempts": 2],
        ]).with(members)
    }

    func submit(_ url: String? = nil, with members: JSONObject = [:]) async throws -> String {
        try await api.submit(order(url, members))
    }

    func ending(of job: String) async throws -> Ending {
        Ending(job: try await api.waitForOutcome(job), fetchd: fetchd)
    }

    /// Submits a job and waits for its end.
    func download(_ url: String? = nil, with members: JSONObject = [:]) async throws -> Ending {
        try await ending(of: submit(url, with: members))
    }

    /// Serves a resource with the given behaviours, and downloads it.
    func begin(
        _ behaviours: OriginBehaviour..., from resource: OriginResource? = nil, with members: JSONObject = [:]
    ) async throws -> Ending {
        origin.serve(path, resource ?? .file(file), behaviours)
        return try await download(with: members)
    }

    /// Serves half of the file, and behaves as given from the second request on.
    func goOn(
        _ later: OriginBehaviour..., from resource: OriginResource? = nil, with members: JSONObject = [:]
    ) async throws -> Ending {
        origin.serve(
            path, resource ?? .file(file), [.closing(after: Self.half).once] + later.map { $0.on(2...) })
        return try await download(with: members)
    }

    /// The same row with its own service, which the scenario may kill.
    func alone(_ fetchd: FetchdProcess) -> Trial { Trial(number, origin, fetchd) }

    /// The same row with a file large enough for several connections.
    func wide() -> Trial {
        var wide = self
        wide.file = Content.random(seed: UInt64(3000 + number), count: 10 * Self.size)
        wide.other = Content.random(seed: UInt64(4000 + number), count: 10 * Self.size)
        return wide
    }
}

// MARK: - Bytes on disk

extension Trial {
    /// Identifies the bytes that the job has on disk. Bytes that the origin never served are an error.
    func outcome(_ ending: Ending) throws -> TransferOutcome {
        let (job, fetchd) = (ending.job, ending.fetchd)
        let bytes = job["state"] == "succeeded" ? try finished(job, fetchd) : try kept(job, fetchd)
        return TransferOutcome(job, bytes: bytes)
    }

    private func finished(_ job: JSON, _ fetchd: some TestedService) throws -> String {
        guard let path = job["file"]["path"].string, let bytes = fetchd.downloaded(path) else {
            throw Overdue("The file of \(job.written) is not in its place.")
        }
        guard job["file"]["sha256"].string == SHA.hexadecimal(of: bytes),
            job["file"]["size"].integer == Int64(bytes.count)
        else { throw Overdue("\(job.written) describes other bytes than those in its file.") }
        let isVerified = job["receipt"]["length_verified"] == true
        return try name(of: bytes) + (isVerified ? "" : ", unverified")
    }

    /// The durable bytes of the job, found in the folder of parts.
    private func kept(_ job: JSON, _ fetchd: some TestedService) throws -> String {
        let name = String(path.dropFirst())
        guard fetchd.downloaded(name) == nil else { throw Overdue("\(job.written) left a file in its place.") }
        guard let count = job["progress"]["bytes_durable"].integer, count > 0 else { return "none" }
        let parts = fetchd.partFiles.compactMap { fetchd.folder.bytes(of: $0) }.filter { $0.count == count }
        guard let own = parts.lazy.compactMap({ try? self.name(of: $0) }).first else {
            throw Overdue("No part file holds what \(job.written) promises.")
        }
        return own
    }

    /// A name for these bytes of the origin.
    private func name(of bytes: [UInt8]) throws -> String {
        if bytes.count > 2 * Self.size, bytes.count > file.count { return try wide().name(of: bytes) }
        let versions = [
            (whole: "all", suffix: "", file), ("all of the new file", " of the new file", other),
            ("the page", " of the page", Self.page), ("all, as gzip", " of the gzip", Gzip.member(of: file)),
        ]
        for (whole, suffix, version) in versions where version.starts(with: bytes) {
            if version.count == bytes.count || bytes.isEmpty { return whole }
            return "the first \(bytes.count)\(suffix)"
        }
        throw Overdue("\(bytes.count) bytes on disk are not the beginning of anything that was served.")
    }

    /// The part file that begins like the file.
    func part() throws -> String {
        let parts = fetchd.partFiles.filter { fetchd.folder.bytes(of: $0)?.starts(with: file.prefix(1000)) == true }
        guard parts.count == 1 else { throw Overdue("\(parts.count) part files begin like the file of \(path).") }
        return fetchd.folder.path(parts[0])
    }
}

extension TestedService {
    /// The part files, as paths in the service's folder.
    var partFiles: [String] { folder.files.filter { $0.hasSuffix(FilePathRule.partSuffix) } }
}
