import API
import CurlClient
import Engine
import HTTPServer
import Locks
import Logging
import Rehearsals
import Storage
import Webhooks

/// The whole service: database, transfers, webhooks and API, in one process. It opens them in the order in which they depend
/// on each other, runs them until `stop()`, and closes them in reverse (docs/architecture.md, "Stopping").
///
/// Signals, flags, environment and exit statuses belong to the program around it.
public final class DownloadService: Sendable {
    private enum Stage {
        case starting
        case running(Engine, Readiness)
        case stopping
    }

    private let options: Options
    private let log: Logger
    private let stage = Locked(Stage.starting)

    public init(_ options: Options, log: Logger) {
        self.options = options
        self.log = log
    }

    /// Runs until `stop()`. A service runs once.
    ///
    /// - Parameter onReady: is called when the jobs of the last run are recovered and the API answers, with its port.
    /// - Throws: `StartError`; `UnstoredError` when the disk did not take everything before the end. Everything is closed
    ///   then as well.
    public func run(onReady: @Sendable (_ port: UInt16) -> Void = { _ in }) async throws {
        let opening = StoreOpening(options: options, log: log) { [self] in isStopping }
        guard let store = try await opening.open() else {
            return log.notice("Stopped before the database could be opened.")
        }
        let result: Result<Void, any Error>
        do { result = .success(try await run(store, onReady)) } catch { result = .failure(error) }
        let isClosed = close(store)
        try result.get()
        guard store.unstored.count == 0 else {
            log.error(
                "Stopped, but the disk did not take everything: \(store.unstored.count) changes are not stored. The next start goes on from what is."
            )
            throw UnstoredError()
        }
        guard isClosed else { throw UnstoredError() }
        log.notice("Stopped; what was under way goes on at the next start.")
    }

    /// Asks for an orderly end of `run()`: attempts keep what they have, and go on from there at the next start.
    public func stop() {
        let before = stage.withLock { stage in
            defer { stage = .stopping }
            return stage
        }
        guard case .running(let engine, let readiness) = before else { return }
        // Requests are refused first, so that nothing new begins.
        readiness.close()
        engine.stop()
    }

    private var isStopping: Bool {
        stage.withLock { if case .stopping = $0 { true } else { false } }
    }

    private func run(_ store: Store, _ onReady: @Sendable (UInt16) -> Void) async throws {
        let folder = try StartError.wrapping { () throws(EngineError) in
            try DownloadsFolder(at: options.downloadsFolder, minimumFreeBytes: options.minimumFreeBytes)
        }
        let policy = AddressPolicy(allowing: options.allowedNetworks)
        let downloads = try client("downloads", admitting: policy.admits)
        let webhooks = try client("webhooks")
        let rehearsals = options.allowsRehearsals ? try StartError.wrapping(RehearsalOrigin.init) : nil
        let engine = Engine(
            options: engineOptions(rehearsals), store: store, folder: folder, client: downloads, log: log)
        let dispatcher = Dispatcher(options: options.webhooks, store: store, client: webhooks, log: log)
        let readiness = Readiness()
        let feed = try StartError.wrapping { () throws(StoreError) in
            try Feed(options: options.feed, store: store, engine: engine)
        }
        let handler = APIHandler(
            options: apiOptions([downloads, webhooks]), store: store, engine: engine, feed: feed,
            readiness: readiness, log: log)
        // Listening comes before recovering, so that an occupied port ends the start before anything is changed.
        let server = try StartError.wrapping { () throws(HTTPServerError) in
            try HTTPServer(options: options.server, handler: handler)
        }
        let result: Result<Void, any Error>
        do {
            result = .success(try await serve(engine, dispatcher, feed, server, readiness, onReady))
        } catch {
            result = .failure(error)
        }
        await rehearsals?.stop()
        await downloads.shutdown()
        await webhooks.shutdown()
        try result.get()
    }

    /// The end comes in reverse: first the transfers, while requests are still read and refused; then the port is closed;
    /// then the last webhooks end.
    private func serve(
        _ engine: Engine, _ dispatcher: Dispatcher, _ feed: Feed, _ server: HTTPServer, _ readiness: Readiness,
        _ onReady: @Sendable (UInt16) -> Void
    ) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { await dispatcher.run() }
            group.addTask { await feed.run() }
            let result: Result<Void, any Error>
            do {
                result = .success(try await work(engine, readiness) { onReady(server.port) })
            } catch {
                result = .failure(error)
            }
            readiness.close()
            // Clients that wait or listen are answered with what is known.
            feed.close()
            await server.stop(grace: Self.grace)
            group.cancelAll()
            try await group.waitForAll()
            try result.get()
        }
    }

    /// For answers that are being sent. Longer downloads of finished files are cut off: their clients go on with Range.
    private static let grace = Duration.seconds(2)

    /// A stop is heeded from the beginning of the recovery, and "ready" is said after it.
    private func work(_ engine: Engine, _ readiness: Readiness, _ onReady: () -> Void) async throws {
        let begins = stage.withLock { stage in
            guard case .starting = stage else { return false }
            stage = .running(engine, readiness)
            return true
        }
        guard begins else { return }
        do {
            try await engine.recover()
        } catch {
            throw StartError(description: "The jobs of the last run could not be recovered. \(error)")
        }
        guard !engine.isStopping else { return }
        readiness.open()
        onReady()
        await engine.run()
    }

    /// - Returns: false when the log could not be copied into the database, which the next start does.
    private func close(_ store: Store) -> Bool {
        do throws(StoreError) {
            try store.close()
            return true
        } catch {
            log.error("\(error)")
            return false
        }
    }

    /// - Parameter admits: nil for webhooks, which are posted to any address: their receivers often run beside the service.
    private func client(_ name: String, admitting admits: (@Sendable (IPAddress) -> Bool)? = nil) throws -> CurlClient {
        var curl = CurlClient.Options()
        curl.admitsAddress = admits
        curl.maxLookups = options.maxLookups
        return try StartError.wrapping { () throws(CurlClientError) in try CurlClient(options: curl, name: name) }
    }

    private func engineOptions(_ rehearsals: RehearsalOrigin?) -> Engine.Options {
        var engine = options.engine
        engine.rehearsalOrigin = rehearsals?.baseURL
        engine.acknowledgementPatience = options.acknowledgementPatience
        return engine
    }

    private func apiOptions(_ clients: [CurlClient]) -> APIHandler.Options {
        var api = options.api
        api.version = options.version
        api.acknowledgementPatience = options.acknowledgementPatience
        api.allowsRehearsals = options.allowsRehearsals
        api.loops = { clients.map(TransferLoopMetrics.init) }
        return api
    }
}
