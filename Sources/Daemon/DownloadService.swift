import API
import Aria2RPC
import Base
import Configuration
import CurlClient
import Engine
import HTTPServer
import Logging
import Rehearsals
import Storage
import Webhooks

/// The whole service: database, transfers, webhooks and API, in one process. It opens these layers in the order of their
/// dependencies, runs them until `stop()`, and closes them in reverse order (docs/architecture.md, "Stopping").
///
/// The executable handles signals, flags, environment variables and exit statuses.
public final class DownloadService: Sendable {
    private enum Stage {
        case starting
        case running(Engine, Readiness)
        case stopping
    }

    let options: Options
    let configuration: ServiceConfiguration
    let log: Logger
    private let stage = Locked(Stage.starting)
    private let pulse = Locked<Heartbeat?>(nil)
    private let ending = Locked(Ending())

    private struct Ending {
        var isAsked = false
        var isReplaced = false
    }

    public init(_ options: Options, log: Logger) {
        self.options = options
        var start = options.start
        start.isNode = options.isNode
        configuration = ServiceConfiguration(start)
        self.log = log
    }

    /// Runs until `stop()`. Call it at most once for each instance.
    ///
    /// - Parameters:
    ///   - onReady: called with the port of the API, after the jobs of the last run are recovered and the API accepts
    ///     requests.
    ///   - onWaiting: called if the database cannot be opened yet. Until it can, requests are answered with the reason.
    ///   - onReplaced: called once, if other nodes have taken over the jobs of this one. The service stops by itself, which can
    ///     take long if a disk hangs.
    /// - Throws: `StartError`; `TokenMissing`; `NodeReplaced`; `UnstoredError` if some changes could not be written to the
    ///   disk. All layers are closed in either case.
    public func run(
        onReady: @Sendable (_ port: UInt16) -> Void = { _ in },
        onWaiting: @escaping @Sendable (_ why: String) -> Void = { _ in },
        onReplaced: @escaping @Sendable () -> Void = {}
    ) async throws {
        let opening = StoreOpening(
            options: options, log: log, isStopping: { [self] in isStopping }, onWaiting: onWaiting,
            onReplacement: { [self] in
                if noteReplacement() { onReplaced() }
                stopLayers()
            })
        if options.store.server != nil { await waitForDisk() }
        guard let store = try await opening.open() else {
            return log.notice("Stopped before the database could be opened.")
        }
        let result: Result<Void, any Error>
        do { result = .success(try await run(store, onReady)) } catch { result = .failure(error) }
        let isClosed = await close(store)
        let ending = ending.withLock(\.self)
        if ending.isReplaced {
            guard ending.isAsked else { throw NodeReplaced() }
            return log.notice("Stopped. The jobs continue on other nodes.")
        }
        try result.get()
        guard store.unstored.count == 0 else {
            log.error(
                "Stopped, but \(store.unstored.count) changes could not be written to the disk. The next start continues from the stored state."
            )
            throw UnstoredError()
        }
        guard isClosed else { throw UnstoredError() }
        log.notice("Stopped. Unfinished downloads continue at the next start.")
    }

    private func noteReplacement() -> Bool {
        ending.withLock { ending in
            defer { ending.isReplaced = true }
            return !ending.isReplaced
        }
    }

    /// Requests an orderly end of `run()`. Attempts keep the bytes that they have received, and continue at the next
    /// start.
    public func stop() {
        ending.withLock { $0.isAsked = true }
        stopLayers()
    }

    /// Announces a later `stop()` with `/readyz`. Everything else continues.
    ///
    /// - Returns: whether the service is ready, so that the announcement has a meaning.
    public func announceStop() -> Bool {
        stage.withLock { if case .running(_, let readiness) = $0 { readiness.leave() } else { false } }
    }

    private func stopLayers() {
        let before = stage.withLock { stage in
            defer { stage = .stopping }
            return stage
        }
        guard case .running(let engine, let readiness) = before else { return }
        // Requests are refused first, so that no new job begins.
        readiness.close()
        engine.stop()
    }

    /// Returns when the threads of the service have shown that they make progress. A blocked thread delays it until it
    /// continues.
    public func heartbeat() async { await pulse.withLock(\.self)?.beat() }

    private var isStopping: Bool { stage.withLock { if case .stopping = $0 { true } else { false } } }

    private func run(_ store: Store, _ onReady: @Sendable (UInt16) -> Void) async throws {
        try options.requireToken(in: store)
        let folder = try await StartError.wrapping { () async throws(EngineError) in
            try await DownloadsFolder.open(
                at: options.downloadsFolder, minimumFreeBytes: options.start.values.minimumFreeBytes,
                modes: FileModes(file: options.start.values.fileMode, folder: options.start.values.directoryMode),
                for: folderUse(store), ofDatabase: store.identity)
        }
        defer { folder.release() }
        let buckets = try await Buckets(options.start.values)
        let declared = try await declaredLocations(store) + buckets.locations(staging: folder)
        defer { for location in declared { location.release() } }
        try await loadSettings(from: store)
        guard !isStopping else { return }
        let (downloads, webhooks) = (try await downloadClient(), try await webhookClient())
        let clients = [downloads, webhooks] + [buckets.client].compactMap(\.self)
        pulse.withLock { $0 = Heartbeat(store: store, clients: clients) }
        defer { pulse.withLock { $0 = nil } }
        let rehearsals =
            options.start.values.enableRehearsals ? try await StartError.wrapping(RehearsalOrigin.init) : nil
        await adviseOnNodes(store)
        let engine = Engine(
            options: engineOptions(rehearsals), store: store, locations: Locations(main: folder, declared),
            client: downloads, log: log)
        connect(engine, store)
        defer { configuration.disconnect() }
        let dispatcher = Dispatcher(options: webhookOptions, store: store, client: webhooks, log: log)
        let readiness = Readiness()
        let feed = Feed(options: options.feed, store: store, engine: engine)
        var api = apiOptions(clients, dispatcher)
        api.objectRelay = buckets.client.map { CurlFileRelay($0, limit: options.maxRelayedFiles).response }
        api.aria2 = aria2(store, engine)
        if api.remoteFiles == nil { api.remoteFiles = remoteFiles(store, downloads) }
        let handler = APIHandler(
            options: api, store: store, engine: engine, feed: feed, configuration: configuration,
            readiness: readiness, log: log)
        // The server listens before the jobs are recovered: if the port is occupied, the start fails without any change.
        let server = try await StartError.wrapping { () throws(HTTPServerError) in
            try HTTPServer(options: options.server, handler: handler)
        }
        let layers = Layers(
            store: store, engine: engine, dispatcher: dispatcher, feed: feed, notifier: api.aria2?.notifier,
            handler: handler, server: server, readiness: readiness)
        let result: Result<Void, any Error>
        do {
            result = .success(try await serve(layers, onReady))
        } catch {
            result = .failure(error)
        }
        await rehearsals?.stop()
        await downloads.shutdown()
        await webhooks.shutdown()
        await buckets.client?.shutdown()
        try result.get()
    }

    /// The store was opened just before, so a failure of its database may be temporary.
    private func loadSettings(from store: Store) async throws {
        while !isStopping {
            do throws(StoreError) {
                return try await configuration.load(from: store, log: log)
            } catch {
                guard error.canPass else { throw StartError(description: error.description) }
                log.warning("fetchd cannot read its settings yet, and tries again every second. \(error)")
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }

    /// The layers end in reverse order: first the transfers, while the server still reads and refuses requests; then the
    /// server closes its port; then the last webhooks end.
    private func serve(_ layers: Layers, _ onReady: @Sendable (UInt16) -> Void) async throws {
        let store = layers.store
        try await withThrowingTaskGroup { group in
            group.addTask { await layers.dispatcher.run() }
            group.addTask { await layers.feed.run() }
            if let notifier = layers.notifier { group.addTask { await notifier.run() } }
            group.addTask { [self] in await configuration.applySchedule(in: store, log: log) }
            group.addTask { [self] in await configuration.readChanges(from: store, log: log) }
            let result: Result<Void, any Error>
            do {
                result = .success(try await work(layers, onReady))
            } catch {
                result = .failure(error)
            }
            layers.readiness.close()
            await layers.handler.stopImports()
            // Pending long polls and streams get an answer with the present state.
            layers.feed.close()
            await layers.server.stop(grace: Self.grace)
            group.cancelAll()
            try await group.waitForAll()
            try result.get()
        }
    }

    private struct Layers: Sendable {
        let store: Store
        let engine: Engine
        let dispatcher: Dispatcher
        let feed: Feed
        /// nil: aria2's interface is off.
        let notifier: RPCNotifier?
        let handler: APIHandler
        let server: HTTPServer
        let readiness: Readiness
    }

    /// The time for responses that are being sent. A longer response with a finished file is cut off; the client can continue
    /// it with a Range request.
    private static let grace = Duration.seconds(2)

    /// Recovers the jobs, calls `onReady`, and runs the engine. `stop()` also ends the recovery.
    private func work(_ layers: Layers, _ onReady: (UInt16) -> Void) async throws {
        let begins = stage.withLock { stage in
            guard case .starting = stage else { return false }
            stage = .running(layers.engine, layers.readiness)
            return true
        }
        guard begins else { return }
        try await recover(layers)
        guard !layers.engine.isStopping else { return }
        layers.readiness.open()
        onReady(layers.server.port)
        await layers.engine.run()
    }

    /// While the disk of the database fails, the recovery is repeated. Opening the store has read the database, so the
    /// failure may be temporary.
    private func recover(_ layers: Layers) async throws {
        while !layers.engine.isStopping {
            do {
                try await disableWebhooksWithoutSecrets(layers.store)
                try await layers.engine.recover()
                return try await layers.handler.continueImports()
            } catch let error as StoreError where error.canPass {
                log.warning(
                    "fetchd cannot recover the jobs of the last run yet, and tries again every second. \(error)")
                try? await Task.sleep(for: .seconds(1))
            } catch {
                throw StartError(description: "The jobs of the last run could not be recovered. \(error)")
            }
        }
    }

    private func disableWebhooksWithoutSecrets(_ store: Store) async throws {
        let count = try await store.disableWebhooksWithoutSecrets()
        guard count > 0 else { return }
        log.warning("fetchd has disabled \(count) webhooks, because the key that sealed their secrets is lost.")
    }

    /// - Returns: false if the write-ahead log could not be copied into the database. The next start copies it.
    private func close(_ store: Store) async -> Bool {
        // Refusals since the last pass of their worker. A disk that fails now is reported below.
        try? await store.storeRefusals()
        do throws(StoreError) {
            try await store.close()
            return true
        } catch {
            log.error("\(error)")
            return false
        }
    }
}

/// Shows that the threads on which the whole service depends make progress: the writer and the readers of the database,
/// and the loops that carry all transfers and deliveries.
private struct Heartbeat: Sendable {
    let store: Store
    let clients: [CurlClient]

    /// Returns when each of them has done a piece of work that was given to it now. A failure counts as well: while a
    /// disk fails, the service waits for it, and a restart would not repair it.
    func beat() async {
        await withTaskGroup { group in
            group.addTask { await store.waitForWriter() }
            group.addTask { _ = try? await store.check() }
            for client in clients {
                // The thread of the client refuses a request without a URL.
                group.addTask { _ = try? await client.exchange(TransferRequest(url: ""), bodyLimit: 0) }
            }
        }
    }
}

/// The service could not start. The description is one sentence for the terminal.
public struct StartError: Error, CustomStringConvertible {
    public let description: String

    /// Runs `body`, and converts its error to a `StartError` with the same description.
    static func wrapping<Value, Failure: Error>(
        _ body: () async throws(Failure) -> Value
    ) async throws(StartError) -> Value {
        do throws(Failure) {
            return try await body()
        } catch {
            throw StartError(description: "\(error)")
        }
    }

}

/// The settings require an administrator's token, and there is none. The description says why, and what to do.
public struct TokenMissing: Error, CustomStringConvertible {
    public let description: String
}

extension DownloadService.Options {
    func requireToken(in store: Store) throws(TokenMissing) {
        guard let demand = start.values.tokenDemand, start.values.token == nil else { return }
        guard store.tokens.admitsAdministrator(at: store.time.now) else { throw TokenMissing(description: demand) }
    }
}

/// The service has stopped, because other nodes of its database have taken over its jobs, or because the server has lost changes.
/// Another process has to take the place of this one.
public struct NodeReplaced: Error {}

/// The service has stopped, and some changes could not be written to the disk. The log has the details.
public struct UnstoredError: Error {}
