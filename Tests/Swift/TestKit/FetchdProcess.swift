import Foundation

/// The real program in its own process: on a free port, with its own folders, ready when `start` returns.
///
///     let fetchd = try await FetchdProcess.start()
///     let job = try await fetchd.api.submit(["url": .string(origin.url("/file"))])
///     try await fetchd.kill()
///     try await fetchd.restart()
public final class FetchdProcess: TestedService {
    public struct Options: Sendable {
        /// Added to the arguments of every test service; a repeated option overrides them.
        public var arguments: [String] = []
        /// Added to the tests' own environment.
        public var environment: [String: String] = [:]
        /// `FETCHD_TOKEN`; the client sends it too.
        public var token: String?
        /// A program and its arguments that start the service's command line and become the service.
        public var launcher: [String] = []
        /// Whether the service may download from the tests' origins: `--allow-network 127.0.0.0/8`.
        public var allowsLoopback = true
        /// Whether each restart uses the same port, for clients with a fixed address such as a page in a browser.
        public var keepsPort = false

        public init(
            arguments: [String] = [], environment: [String: String] = [:], token: String? = nil,
            launcher: [String] = [],
            allowsLoopback: Bool = true, keepsPort: Bool = false
        ) {
            self.arguments = arguments
            self.environment = environment
            self.token = token
            self.launcher = launcher
            self.allowsLoopback = allowsLoopback
            self.keepsPort = keepsPort
        }
    }

    private struct Incarnation: Sendable {
        let child: ChildProcess
        let port: UInt16
    }

    /// Holds `data` and `downloads`.
    public let folder: TemporaryFolder
    private let options: Options
    /// No other program gets it while the service does not run; nil if each start uses another port.
    private let reserved: ReservedPort?
    private let incarnation: Monitor<Incarnation>

    public static func start(
        _ options: Options = .init(), in folder: TemporaryFolder? = nil
    ) async throws -> FetchdProcess {
        let folder = try folder ?? TemporaryFolder()
        let reserved = try options.keepsPort ? ReservedPort() : nil
        return try await FetchdProcess(options, folder, reserved, launch(options, folder, at: reserved))
    }

    private init(
        _ options: Options, _ folder: TemporaryFolder, _ reserved: ReservedPort?, _ incarnation: Incarnation
    ) {
        self.options = options
        self.folder = folder
        self.reserved = reserved
        self.incarnation = Monitor(incarnation)
    }

    deinit { incarnation.current.child.signal(SIGKILL) }

    public var port: UInt16 { incarnation.current.port }
    public var api: APIClient { APIClient(baseURL: baseURL, token: options.token) }
    /// The process identifier for `/proc`.
    public var pid: Int32 { incarnation.current.child.pid }
    public var isRunning: Bool { incarnation.current.child.endingSoFar == nil }

    /// The log of the current process, for messages of failed tests.
    public var log: String { incarnation.current.child.errors }
}

// MARK: - Stopping and starting again

extension FetchdProcess {
    /// Sends SIGTERM, and returns the ending of the process.
    @discardableResult
    public func terminate(atMost timeout: Duration = .patience) async throws -> ChildProcess.Ending {
        let child = incarnation.current.child
        child.signal(SIGTERM)
        return try await child.waitForEnd(atMost: timeout)
    }

    /// - Throws: if the exit status is not 0.
    public func stop() async throws {
        let ending = try await terminate()
        guard ending == .exited(0) else { throw Overdue("fetchd to stop in order: \(ending)") }
    }

    /// Sends a signal to the current process without waiting.
    public func signal(_ number: Int32) { incarnation.current.child.signal(number) }

    /// Waits for the current process to end.
    public func waitForEnd(atMost timeout: Duration = .patience) async throws -> ChildProcess.Ending {
        try await incarnation.current.child.waitForEnd(atMost: timeout)
    }

    /// Sends SIGKILL and waits for the end.
    public func kill() async throws {
        let child = incarnation.current.child
        child.signal(SIGKILL)
        try await child.waitForEnd()
    }

    /// Restarts the service with the same folders and options. Unless `Options.keepsPort` is set, the port is another
    /// one: `api` and `baseURL` follow it.
    public func restart() async throws {
        precondition(!isRunning, "kill or terminate it first")
        let next = try await Self.launch(options, folder, at: reserved)
        incarnation.withLock { $0 = next }
    }

    /// Runs `fetchd` until it ends, for starts that are refused and for `--help`.
    public static func run(
        _ arguments: [String], environment: [String: String] = [:], workingFolder: String? = nil
    ) async throws -> ChildProcess.Outcome {
        try await ChildProcess.run(program, arguments, environment: environment, workingFolder: workingFolder)
    }

    /// The program in the build folder of the tests.
    public static let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appending(path: "fetchd").path
}

// MARK: - Becoming ready

extension FetchdProcess {
    /// - Parameter reserved: nil for a port that the system chooses.
    private static func launch(
        _ options: Options, _ folder: TemporaryFolder, at reserved: ReservedPort?
    ) async throws -> Incarnation {
        let command = options.launcher + [program]
        let address = reserved?.address ?? "127.0.0.1:0"
        let store = try TestStore.url(for: folder).map { ["--store", $0] } ?? []
        let child = try await ChildProcess(
            command[0],
            command.dropFirst() + [
                "serve", "--listen", address, "--data-dir", folder.path("data"), "--downloads-dir",
                folder.path("downloads"),
            ] + store + (options.allowsLoopback ? ["--allow-network", "127.0.0.0/8"] : []) + options.arguments,
            environment: options.environment.merging(options.token.map { ["FETCHD_TOKEN": $0] } ?? [:]) { $1 })
        let port = try await eventually("fetchd to say where it listens") { try Self.announcedPort(child) }
        let api = APIClient(baseURL: "http://127.0.0.1:\(port)", token: options.token)
        _ = try await eventually("fetchd to be ready") {
            try Self.requireRunning(child)
            return try? await api.get("/readyz").status == 200 ? true : nil
        }
        return Incarnation(child: child, port: port)
    }

    /// The port in the log: unless one is reserved, the system chooses a free one, so that two services never compete
    /// for it.
    private static func announcedPort(_ child: ChildProcess) throws -> UInt16? {
        try requireRunning(child)
        guard let announcement = child.errors.firstRange(of: " is ready at http://") else { return nil }
        let address = child.errors[announcement.upperBound...].prefix { !$0.isWhitespace && $0 != "\"" }
        return address.split(separator: ":").last.flatMap { UInt16($0) }
    }

    private static func requireRunning(_ child: ChildProcess) throws {
        guard let ending = child.endingSoFar else { return }
        throw Overdue("fetchd to be ready: it ended (\(ending)) and had written:\n\(child.errors)")
    }
}

extension FetchdProcess {
    /// Another program of the package, in the same build folder.
    public static func companion(_ name: String) -> String {
        URL(filePath: program).deletingLastPathComponent().appending(path: name).path
    }
}
