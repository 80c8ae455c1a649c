import Downloads
import Formats
import Foundation
import HTTPSemantics
import Storage
import StoragePostgres
import StorageSQLite
import TestKit

/// A store in a folder of its own, or in a name space of the server that `FETCHD_TEST_STORE` names, with a manual clock.
struct StoreFixture {
    let folder: TemporaryFolder
    let time: ManualTime
    let store: Store
    /// For opening the same store again.
    let options: Store.Options

    init() throws {
        folder = try TemporaryFolder()
        time = ManualTime()
        var options = Store.Options()
        options.server = try TestStore.server.map { .postgres(try PostgresFixture(on: $0).url) }
        options.acceptsUnsafeServer = true
        self.options = options
        store = try Store(at: folder.path, options: options, time: time)
    }

    @discardableResult
    func create(_ count: Int = 1, in session: Name = .default, host: String = "host") async throws -> [Job] {
        try await store.createJobs(
            (0..<count).map { NewJob(session: session, spec: JobSpec(url: "https://\(host)/\($0)?signature=s")) })
    }

    func admit(_ jobs: Int = 16, perHost: Int = 100) async throws -> [AdmittedJob] {
        try await store.admitJobs(AdmissionLimits(jobs: jobs, connectionsPerHost: perHost)) { _ in }.admitted
    }

    func declareWebhook(_ events: [String] = ["session.*", "job.*"], in session: Name = .default) async throws
        -> Webhook
    {
        try await store.declareWebhook(
            Name(trusted: "hook"), of: session,
            as: WebhookDeclaration(url: "https://consumer/", events: events.map { EventPattern(trusted: $0) })
        ).webhook
    }

    func eventTypes(of session: Name = .default) async throws -> [String] {
        try await store.events(EventQuery(session: session, limit: 1000)).events.map(\.type.rawValue)
    }

    /// Makes an admitted job succeed.
    func succeed(_ job: JobID) async throws {
        _ = try await store.apply(.finalizePlanned(Self.promotion(of: job)), to: job)
        _ = try await store.apply(.finalized(nil), to: job)
    }

    /// - Parameter path: of the file; nil: the text of the job.
    static func promotion(of job: JobID, path: String? = nil, contentType: String? = nil) -> FinalizePlan {
        FinalizePlan(
            part: PartID("part_of_\(job)"), inode: 1, conflict: .rename,
            file: FinishedFile(path: path ?? "\(job)", size: 3, sha256: nil, contentType: contentType),
            receipt: Receipt(
                finalURL: "https://host/", redirects: [], status: 200, etag: nil, lastModified: nil,
                remoteAddress: nil, networkProtocol: "HTTP/1.1", lengthVerified: true, attempts: 1,
                timings: Receipt.Timings(connect: 0, firstByte: 0, transfer: 0, total: 0)))
    }

    static func part(_ name: String = "part_1", durable: Int64 = 5, size: Int64? = 10) -> Part {
        Part(
            id: PartID(name), url: "https://host/0", validators: Validators(etag: "\"v1\""), size: size,
            ranges: ByteRanges(prefix: durable))
    }

    static let failure = Failure(.connectionLost, "gone", attempts: 1, at: Date(milliseconds: 1000))
}
