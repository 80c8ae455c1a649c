import CurlClient
import Downloads
import Formats
import Foundation
import HTTPSemantics
import Storage
import StoragePostgres
import StorageSQLite
import TestKit

@testable import Engine

/// What a background worker works on: a store, a downloads folder and a log, with a clock that the test turns. No engine
/// runs, so each pass is one that the test begins.
struct MaintenanceFixture {
    let temporary: TemporaryFolder
    let time: ManualTime
    let store: Store
    let services: EngineServices
    var active: ActiveAttempts { services.active }
    var folder: DownloadsFolder { services.locations.main.folder }
    /// A second location.
    static let films = Name(trusted: "films")
    let log = LogRecord()

    /// - Parameters:
    ///   - database: nil: SQLite.
    ///   - incomplete: the folder of incomplete files of the second location.
    ///   - opensFilms: whether the folder of the second location is opened, or not yet.
    ///   - connections: the connections that hosts have room for.
    init(
        for use: FolderUse = .alone, incomplete: String? = nil, opensFilms: Bool = true,
        in database: PostgresFixture? = nil,
        connections: HostConnections = HostConnections(limit: 100, maxAdditional: 0) {},
        time: ManualTime = ManualTime()
    ) throws {
        self.time = time
        temporary = try TemporaryFolder()
        var options = Store.Options()
        (options.server, options.acceptsUnsafeServer) = (database.map { .postgres($0.url) }, true)
        let store = try Store(at: temporary.path("data"), options: options, time: time)
        self.store = store
        var engine = Engine.Options()
        engine.acknowledgementPatience = 100
        let path = temporary.path("films")
        let films =
            opensFilms
            ? try DownloadsFolder(at: path, incomplete: incomplete, for: use)
            : DownloadsFolder(unopenedAt: path, incomplete: incomplete, for: use, claimedBy: nil)
        services = EngineServices(
            options: engine, store: store,
            locations: Locations(
                main: try DownloadsFolder(at: temporary.path("downloads"), for: use),
                [Location(Self.films, films)]),
            client: try CurlClient(), connections: connections, log: log.logger)
    }

    var now: Date { store.time.now }

    /// Replaces limits, as a change of the settings does.
    func limit(_ change: (inout Engine.StorageLimits) -> Void) { services.limits.withLock { change(&$0.storage) } }

    // MARK: Jobs

    @discardableResult
    func create(
        _ count: Int = 1, in session: Name = .default, _ change: (inout JobSpec) -> Void = { _ in }
    ) async throws -> [JobID] {
        let jobs = (0..<count).map { number in
            var spec = JobSpec(url: "https://host/\(number)")
            change(&spec)
            return NewJob(session: session, spec: spec)
        }
        return try await store.createJobs(jobs).map(\.id)
    }

    /// Admits what is queued. The attempts are known as active, and none of them runs.
    func admit() async throws {
        _ = try await store.admitJobs(AdmissionLimits(jobs: 100, connectionsPerHost: 100)) { [active, services] jobs in
            for job in jobs { _ = active.begin(job, services) }
        }
    }

    func cancel(_ job: JobID) async throws {
        _ = try await store.apply(.cancelRequested(keepsPart: false), to: job)
    }

    func fail(_ job: JobID, having part: Part? = nil) async throws {
        let failure = Failure(.connectionLost, "gone", attempts: 1, at: now)
        _ = try await store.apply(
            .attemptFailed(failure), to: job, AttemptReport(part: part, madeProgress: part != nil))
    }

    func deferred(_ job: JobID, _ reason: Wait.Reason, for location: Name = .default) async throws {
        let failure = Failure(.storageError, "gone", attempts: 1, at: now)
        _ = try await store.apply(.attemptDeferred(Wait(reason, cause: failure).at(location)), to: job)
    }

    func job(_ id: JobID) async throws -> Job { try await store.job(id) }

    func states() async throws -> [JobState.Kind: Int] { try await store.statistics().jobs }

    func eventTypes() async throws -> [String] {
        try await store.events(EventQuery(limit: 1000)).events.map(\.type.rawValue)
    }

    func hasSession(_ name: Name) async throws -> Bool {
        do throws(StoreError) {
            _ = try await store.session(name)
            return true
        } catch .noSuchSession {
            return false
        } catch {
            throw error
        }
    }

    // MARK: Parts

    /// Makes the file of a part with five bytes that are promised.
    func makePart(_ name: String, of text: String = "") throws -> Part {
        let id = PartID(name)
        try Array(text.utf8).withUnsafeBytes { try folder.makePart(id).write($0, at: 0) }
        return Part(
            id: id, url: "https://host/0", validators: Validators(etag: "\"v1\""), size: 10,
            ranges: ByteRanges(prefix: 5))
    }

    func hasFile(of part: Part) -> Bool {
        temporary.bytes(of: "downloads/\(FilePathRule.partsDirectory)/\(part.id.fileName)") != nil
    }

    func declare(_ session: Name = .default, _ change: (inout SessionConfiguration) -> Void) async throws {
        var configuration = SessionConfiguration()
        change(&configuration)
        _ = try await store.declareSession(session, configuration: configuration)
    }
}
