import API
import CurlClient
import Engine
import Foundation
import HTTPServer
import Logging
import Rehearsals
import ServiceLifecycle
import Storage
import Webhooks

/// The wiring: opens what there is to open, in the order in which it depends, and runs it until a signal comes.
struct Service {
    private let settings: Settings
    private let log: Logger

    init(_ settings: Settings) {
        self.settings = settings
        LoggingSystem.bootstrap(StreamLogHandler.standardError)
        var log = Logger(label: "fetchd")
        log.logLevel = settings.logLevel
        self.log = log
    }

    func run() async throws {
        DescriptorLimit.raise()
        if DescriptorLimit.jobs < settings.maxConcurrentJobs {
            log.warning(
                "The system allows descriptors for \(DescriptorLimit.jobs) jobs at once, not \(settings.maxConcurrentJobs); raise its limit (ulimit -Hn)."
            )
        }
        let opening = StoreOpening(
            folder: settings.dataDir, options: storeOptions, serverOptions: serverOptions, log: log)
        guard let store = try await opening.open() else {
            return log.notice("Stopped before the database could be opened.")
        }
        let folder = try StartError.wrapping { () throws(EngineError) in
            try DownloadsFolder(
                at: settings.downloadsDir, minimumFreeBytes: settings.minimumFreeBytes.map(Int64.init))
        }
        let policy = AddressPolicy(allowing: settings.allowedNetworks)
        let downloads = try client("downloads", admitting: policy.admits)
        let webhooks = try client("webhooks")
        let rehearsals = settings.enableRehearsals ? try StartError.wrapping(RehearsalOrigin.init) : nil
        let engine = Engine(
            options: engineOptions(rehearsals), store: store, folder: folder, client: downloads, log: log)
        let dispatcher = Dispatcher(options: dispatcherOptions, store: store, client: webhooks, log: log)

        // Listening comes before recovering, so that an occupied port is told before anything is changed.
        let readiness = Readiness()
        let feed = try StartError.wrapping { () throws(StoreError) in
            try Feed(options: feedOptions, store: store, engine: engine)
        }
        let front = Front(
            options: frontOptions([downloads, webhooks]), store: store, engine: engine, feed: feed,
            readiness: readiness, log: log)
        let server = try StartError.wrapping { () throws(HTTPServerError) in
            try HTTPServer(options: serverOptions, handler: front)
        }
        try await serve(engine, dispatcher, feed, server, readiness)
        await rehearsals?.stop()
        await downloads.shutdown()
        await webhooks.shutdown()
        let isClosed = close(store)
        guard store.unstored.count == 0 else {
            log.error(
                "Stopped, but the disk did not take everything: \(store.unstored.count) changes are not stored. The next start goes on from what is."
            )
            throw UnstoredError()
        }
        guard isClosed else { throw UnstoredError() }
        log.notice("Stopped; what was under way goes on at the next start.")
    }

    /// Stopped in reverse: first the transfers, while requests are still taken and refused; then the port is closed; then the
    /// last events are sent. docs/architecture.md, "Stopping".
    private func serve(
        _ engine: Engine, _ dispatcher: Dispatcher, _ feed: Feed, _ server: HTTPServer, _ readiness: Readiness
    ) async throws {
        let configuration = ServiceGroupConfiguration(
            services: [
                .init(service: Unit { await dispatcher.run() }),
                .init(service: Unit { await feed.run() }),
                .init(service: ServerUnit(server: server, feed: feed)),
                .init(
                    service: EngineUnit(engine: engine, readiness: readiness) {
                        try await work(engine, server, readiness)
                    }),
            ], logger: log)
        let group = ServiceGroup(configuration: configuration)
        let requests = await StopSignals.heed(stopWithin: settings.stopTimeout)
        async let stopping: Void = stop(group, at: requests)
        try await group.run()
        await stopping
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

    private func stop(_ group: ServiceGroup, at requests: AsyncStream<Void>) async {
        for await _ in requests {
            log.notice("Stopping. A second signal ends fetchd at once.")
            return await group.triggerGracefulShutdown()
        }
    }

    /// Recovery is part of the service's life: signals are heeded from its beginning, and "ready" is said after it.
    private func work(_ engine: Engine, _ server: HTTPServer, _ readiness: Readiness) async throws {
        do {
            try await engine.recover()
        } catch {
            throw StartError(description: "The jobs of the last run could not be recovered. \(error)")
        }
        guard !engine.isStopping else { return }
        readiness.open()
        log.notice("fetchd \(Version.text) is ready at http://\(settings.listen.with(port: server.port))")
        await engine.run()
    }

    /// - Parameter admits: nil for webhooks, which are posted to any address: their receivers often stand beside the
    ///   service.
    private func client(_ name: String, admitting admits: (@Sendable (IPAddress) -> Bool)? = nil) throws -> CurlClient {
        var options = CurlClient.Options()
        options.admitsAddress = admits
        options.maxLookups = DescriptorLimit.lookups
        return try StartError.wrapping { () throws(CurlClientError) in try CurlClient(options: options, name: name) }
    }

    private var storeOptions: Store.Options {
        var options = Store.Options()
        options.log = log
        options.longestDeliveryDelay = dispatcherOptions.schedule.longestDelay
        return options
    }

    private func engineOptions(_ rehearsals: RehearsalOrigin?) -> Engine.Options {
        var options = Engine.Options()
        options.maxConcurrentJobs = min(settings.maxConcurrentJobs, DescriptorLimit.jobs)
        options.maxFurtherConnections = DescriptorLimit.furtherConnections(beside: options.maxConcurrentJobs)
        options.maxConnectionsPerHost = settings.maxConnectionsPerHost
        options.maxResumeDataBytes = settings.resumeDataMaxBytes.map(Int64.init)
        options.rateLimit = settings.rateLimit.map(Int64.init)
        options.minimumSpeedSeconds = settings.minimumSpeedSeconds
        options.rehearsalOrigin = rehearsals?.baseURL
        options.acknowledgementPatience = settings.acknowledgementPatience
        options.retention = Retention(
            acknowledged: settings.eventRetention, unacknowledged: settings.unacknowledgedRetention)
        return options
    }

    private var dispatcherOptions: Dispatcher.Options {
        var options = Dispatcher.Options()
        options.schedule = RetrySchedule(delays: settings.webhookRetryDelays)
        return options
    }

    private var feedOptions: Feed.Options {
        var options = Feed.Options()
        options.heartbeat = .seconds(settings.streamHeartbeat)
        return options
    }

    private func frontOptions(_ clients: [CurlClient]) -> Front.Options {
        var options = Front.Options()
        options.token = settings.token
        options.version = Version.text
        options.publicHosts = settings.publicHosts
        options.allowedOrigins = settings.allowedOrigins
        options.acknowledgementPatience = settings.acknowledgementPatience
        options.allowsRehearsals = settings.enableRehearsals
        options.loops = { clients.map(LoopFigures.init) }
        return options
    }

    private var serverOptions: HTTPServer.Options {
        var options = HTTPServer.Options()
        options.address = settings.listen.host
        options.port = settings.listen.port
        options.maxBodyBytes = 32 << 20
        options.connectionLimit = DescriptorLimit.clients(beside: settings.maxConcurrentJobs)
        return options
    }
}

/// Something that runs until it is told to stop, as a unit of the service group.
private struct Unit: ServiceLifecycle.Service {
    let body: @Sendable () async throws -> Void

    func run() async throws {
        try await cancelWhenGracefulShutdown { try await body() }
    }
}

private struct EngineUnit: ServiceLifecycle.Service {
    let engine: Engine
    let readiness: Readiness
    let work: @Sendable () async throws -> Void

    /// In the end requests are refused first, so that nothing new is begun.
    func run() async throws {
        try await withGracefulShutdownHandler {
            try await work()
        } onGracefulShutdown: {
            readiness.close()
            engine.stop()
        }
    }
}

private struct ServerUnit: ServiceLifecycle.Service {
    let server: HTTPServer
    let feed: Feed

    /// For what is being sent. Long downloads of finished files are cut off: their clients go on by Range.
    private static let grace = Duration.seconds(2)

    /// In the end who waits or listens is answered at once: with what is known.
    func run() async throws {
        try? await gracefulShutdown()
        feed.close()
        await server.stop(grace: Self.grace)
    }
}
