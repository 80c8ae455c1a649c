import API
import HTTPServer
import Locks
import Logging
import ServiceLifecycle
import Storage

/// Opens the store; and where that can succeed by itself later, waits for it: for room on the disk, or for a process that
/// has locked the database. Meanwhile the port answers, and says why the service is not ready.
struct StoreOpening: Sendable {
    let folder: String
    let options: Store.Options
    let serverOptions: HTTPServer.Options
    let log: Logger

    /// - Returns: nil when SIGTERM or SIGINT came first.
    /// - Throws: `StartError` for what does not pass by itself.
    func open() async throws -> Store? {
        switch try attempt() {
        case .opened(let store): return store
        case .postponed(let why): return try await wait(why)
        }
    }

    private enum Outcome {
        case opened(Store)
        case postponed(String)
    }

    private func attempt() throws -> Outcome {
        do throws(StoreError) {
            return .opened(try Store(at: folder, options: options))
        } catch .outOfSpace {
            return .postponed(StoreError.outOfSpace.description)
        } catch .busy {
            return .postponed(StoreError.busy.description)
        } catch {
            throw StartError(description: "\(error)")
        }
    }

    private func wait(_ why: String) async throws -> Store? {
        let front = WaitingFront(reason: why)
        let server = try StartError.wrapping { () throws(HTTPServerError) in
            try HTTPServer(options: serverOptions, handler: front)
        }
        let opened = Locked<Store?>(nil)
        let attempts = Attempts {
            log.warning("\(why) fetchd waits at port \(server.port), and tries again every second.")
        } attempt: {
            switch try attempt() {
            case .opened(let store): opened.withLock { $0 = store }
            case .postponed(let why): front.update(reason: why)
            }
            return opened.withLock { $0 != nil }
        }
        let configuration = ServiceGroupConfiguration(
            services: [.init(service: attempts, successTerminationBehavior: .gracefullyShutdownGroup)],
            gracefulShutdownSignals: [.sigterm, .sigint], logger: log)
        let result: Result<Void, any Error>
        do { result = .success(try await ServiceGroup(configuration: configuration).run()) } catch {
            result = .failure(error)
        }
        await server.stop(grace: .seconds(1))
        try result.get()
        return opened.withLock { $0 }
    }

    /// Until one succeeds, or the service is stopped.
    private struct Attempts: ServiceLifecycle.Service {
        /// Signals are heeded from here on.
        let begin: @Sendable () -> Void
        let attempt: @Sendable () throws -> Bool

        func run() async throws {
            begin()
            try await cancelWhenGracefulShutdown {
                while true {
                    do { try await Task.sleep(for: .seconds(1)) } catch { return }
                    if try attempt() { return }
                }
            }
        }
    }
}
