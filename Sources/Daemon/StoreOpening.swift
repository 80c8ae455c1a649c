import API
import Downloads
import HTTPServer
import Logging
import Storage
import StorageSQLite

/// Opens the store. If the disk is full, or another process has the database, or its server is away, the opening is repeated
/// every second. Meanwhile a server responds to every request with the reason why the service is not ready.
struct StoreOpening: Sendable {
    let options: DownloadService.Options
    let log: Logger
    let isStopping: @Sendable () -> Bool
    /// Called when the service waits, and answers requests with the reason.
    let onWaiting: @Sendable (_ why: String) -> Void
    /// See `Store.Options`.
    let onReplacement: @Sendable () -> Void

    /// - Returns: nil if the service was stopped first.
    /// - Throws: `StartError` for an error that would occur again.
    func open() async throws -> Store? {
        switch try await attempt() {
        case .opened(let store): return store
        case .postponed(let why): return try await wait(why)
        }
    }

    private enum Outcome {
        case opened(Store)
        case postponed(String)
    }

    private func attempt() async throws -> Outcome {
        do throws(StoreError) {
            return .opened(try await Store.open(at: options.dataFolder, options: storeOptions, time: options.time))
        } catch {
            switch error {
            case .outOfSpace, .busy, .databaseAway, .databaseInUse: return .postponed(error.description)
            default: throw StartError(description: error.description)
            }
        }
    }

    private var storeOptions: Store.Options {
        var store = options.store
        store.log = log
        store.onReplacement = { [log, onReplacement] loss in
            log.critical("\(loss) It begins no change of a file until then.")
            onReplacement()
        }
        options.describe(&store)
        store.followsServerClock = options.time is SystemTime
        store.longestDeliveryDelay = options.webhooks.schedule.longestDelay
        return store
    }

    private func wait(_ why: String) async throws -> Store? {
        let handler = StartupHandler(reason: why)
        let server = try await StartError.wrapping { () throws(HTTPServerError) in
            try HTTPServer(options: options.server, handler: handler)
        }
        log.warning("\(why) fetchd waits at port \(server.port) and tries again every second.")
        onWaiting(why)
        let result: Result<Store?, any Error>
        do { result = .success(try await repeatAttempts(handler)) } catch { result = .failure(error) }
        await server.stop(grace: .seconds(1))
        return try result.get()
    }

    private func repeatAttempts(_ handler: StartupHandler) async throws -> Store? {
        var nextAttempt = ContinuousClock.now + .seconds(1)
        while !isStopping(), !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(50))
            guard ContinuousClock.now >= nextAttempt else { continue }
            nextAttempt = .now + .seconds(1)
            switch try await attempt() {
            case .opened(let store): return store
            case .postponed(let why): handler.update(reason: why)
            }
        }
        return nil
    }
}
