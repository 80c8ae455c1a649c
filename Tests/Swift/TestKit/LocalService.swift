import CurlClient
import Daemon
import Downloads
import Formats
import Foundation
import Logging
import StoragePostgres

/// The service in the process of the tests: on a free port, with its own folder, ready when `start` returns. Only its
/// clock can be replaced.
///
///     let time = ManualTime()
///     let service = try await LocalService.start { $0.time = time }
///     let job = try await service.api.submit(["url": .string(origin.url("/file"))])
public final class LocalService: TestedService {
    public struct Options: Sendable {
        /// The client sends it too.
        public var token: String?
        /// Changes the options of the service; by default it may download from loopback addresses.
        public var configure: (@Sendable (inout DownloadService.Options) -> Void)?

        public init(token: String? = nil, _ configure: (@Sendable (inout DownloadService.Options) -> Void)? = nil) {
            self.token = token
            self.configure = configure
        }
    }

    private struct Run: Sendable {
        let service: DownloadService
        let port: UInt16
        let log: LogRecord
        let task: Task<Void, any Error>
    }

    public let folder: TemporaryFolder
    private let options: Options
    private let current: Monitor<Run>

    public static func start(_ options: Options = .init(), in folder: TemporaryFolder? = nil) async throws
        -> LocalService
    {
        let folder = try folder ?? TemporaryFolder()
        return try await LocalService(folder, options, begin(options, folder))
    }

    private init(_ folder: TemporaryFolder, _ options: Options, _ run: Run) {
        self.folder = folder
        self.options = options
        current = Monitor(run)
    }

    /// The service's task keeps the folder until the service has ended.
    deinit { current.current.service.stop() }

    public var port: UInt16 { current.current.port }
    public var api: APIClient { APIClient(baseURL: baseURL, token: options.token) }
    public var log: String { current.current.log.text }

    /// Stops the service in an orderly way.
    ///
    /// - Throws: the error with which the service ended otherwise.
    public func stop() async throws {
        let run = current.current
        run.service.stop()
        try await run.task.value
    }

    /// Stops the service in an orderly way, and starts it with the same folder and options. The port is another one.
    public func restart() async throws {
        try await stop()
        let next = try await Self.begin(options, folder)
        current.withLock { $0 = next }
    }

    private static func begin(_ options: Options, _ folder: TemporaryFolder) async throws -> Run {
        let log = LogRecord()
        let service = DownloadService(try serviceOptions(options, folder), log: log.logger)
        let (ports, continuation) = AsyncStream<UInt16>.makeStream()
        let task = Task { [folder] in
            defer {
                continuation.finish()
                withExtendedLifetime(folder) {}
            }
            try await service.run { continuation.yield($0) }
        }
        for await port in ports { return Run(service: service, port: port, log: log, task: task) }
        try await task.value
        throw Overdue("The service to be ready: it has ended.")
    }

    private static func serviceOptions(_ options: Options, _ folder: TemporaryFolder) throws -> DownloadService.Options
    {
        var service = DownloadService.Options(
            dataFolder: folder.path("data"), downloadsFolder: folder.path("downloads"))
        service.start.values.allowedNetworks = [Network("127.0.0.0/8")!]
        service.start.values.token = options.token
        service.version = "0.0.0"
        service.store.server = try TestStore.url(for: folder).map { .postgres($0) }
        service.store.acceptsUnsafeServer = true
        service.server.threads = 1
        service.server.connectionLimit = 1000
        options.configure?(&service)
        return service
    }
}
