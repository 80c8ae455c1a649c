import Foundation

/// The real program as a service of its own: on a free port, with folders of its own, ready when `start` returns.
///
///     let fetchd = try await FetchdProcess.start()
///     let job = try await fetchd.api.submit(["url": .string(origin.url("/file"))])
///     try await fetchd.kill()
///     try await fetchd.restart()
public final class FetchdProcess: TestedService {
    public struct Options: Sendable {
        /// Added to what every service of a test has; an option given again wins.
        public var arguments: [String] = []
        /// Added to the tests' own environment.
        public var environment: [String: String] = [:]
        /// `FETCHD_TOKEN`; the client sends it, too.
        public var token: String?
        /// A program and its arguments that the service's command line follows: it becomes the service in the end.
        public var launcher: [String] = []
        /// Whether origins of tests can be downloaded from: `--allow-network 127.0.0.0/8`.
        public var allowsLoopback = true

        public init(
            arguments: [String] = [], environment: [String: String] = [:], token: String? = nil,
            launcher: [String] = [],
            allowsLoopback: Bool = true
        ) {
            self.arguments = arguments
            self.environment = environment
            self.token = token
            self.launcher = launcher
            self.allowsLoopback = allowsLoopback
        }
    }

    private struct Incarnation: Sendable {
        let child: ChildProcess
        let port: UInt16
    }

    /// Holds `data` and `downloads`.
    public let folder: TemporaryFolder
    private let options: Options
    private let incarnation: Monitor<Incarnation>

    public static func start(
        _ options: Options = .init(), in folder: TemporaryFolder? = nil
    ) async throws -> FetchdProcess {
        let folder = try folder ?? TemporaryFolder()
        return try await FetchdProcess(options, folder, launch(options, folder))
    }

    private init(_ options: Options, _ folder: TemporaryFolder, _ incarnation: Incarnation) {
        self.options = options
        self.folder = folder
        self.incarnation = Monitor(incarnation)
    }

    deinit { incarnation.current.child.signal(SIGKILL) }

    public var port: UInt16 { incarnation.current.port }
    public var api: APIClient { APIClient(baseURL: baseURL, token: options.token) }
    /// For looking into `/proc`.
    public var pid: Int32 { incarnation.current.child.pid }
    public var isRunning: Bool { incarnation.current.child.endingSoFar == nil }

    /// Of the present process.
    public var processIdentifier: Int32 { incarnation.current.child.processIdentifier }

    /// What the present process has logged; for messages of tests that fail.
    public var log: String { incarnation.current.child.errors }
}

// MARK: - Stopping and starting again

extension FetchdProcess {
    /// SIGTERM, and how the process ended.
    @discardableResult
    public func terminate(atMost timeout: Duration = .seconds(60)) async throws -> ChildProcess.Ending {
        let child = incarnation.current.child
        child.signal(SIGTERM)
        return try await child.waitForEnd(atMost: timeout)
    }

    /// - Throws: when it ends with another status than 0.
    public func stop() async throws {
        let ending = try await terminate()
        guard ending == .exited(0) else { throw Overdue("fetchd to stop in order: \(ending)") }
    }

    /// Sends a signal to the present process and waits for nothing.
    public func signal(_ number: Int32) { incarnation.current.child.signal(number) }

    /// How the present process ended.
    public func waitForEnd(atMost timeout: Duration = .seconds(60)) async throws -> ChildProcess.Ending {
        try await incarnation.current.child.waitForEnd(atMost: timeout)
    }

    /// SIGKILL: no last word.
    public func kill() async throws {
        let child = incarnation.current.child
        child.signal(SIGKILL)
        try await child.waitForEnd()
    }

    /// Starts it again with the same folders and options. The port is another one: `api` and `baseURL` know it.
    ///
    /// - Parameter onSamePort: for those who keep its address, such as a page in a browser.
    public func restart(onSamePort: Bool = false) async throws {
        precondition(!isRunning, "kill or terminate it first")
        var options = options
        if onSamePort { options.arguments += ["--listen", "127.0.0.1:\(port)"] }
        let next = try await Self.launch(options, folder)
        incarnation.withLock { $0 = next }
    }

    /// Runs `fetchd` to its end: for starts that are refused, and for `--help`.
    public static func run(
        _ arguments: [String], environment: [String: String] = [:], workingFolder: String? = nil
    ) async throws -> ChildProcess.Outcome {
        try await ChildProcess.run(program, arguments, environment: environment, workingFolder: workingFolder)
    }

    /// The program that was built beside the tests.
    public static let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appending(path: "fetchd").path
}

// MARK: - Becoming ready

extension FetchdProcess {
    private static func launch(_ options: Options, _ folder: TemporaryFolder) async throws -> Incarnation {
        let command = options.launcher + [program]
        let child = try await ChildProcess(
            command[0],
            command.dropFirst() + [
                "serve", "--listen", "127.0.0.1:0", "--data-dir", folder.path("data"), "--downloads-dir",
                folder.path("downloads"),
            ] + (options.allowsLoopback ? ["--allow-network", "127.0.0.0/8"] : []) + options.arguments,
            environment: options.environment.merging(options.token.map { ["FETCHD_TOKEN": $0] } ?? [:]) { $1 })
        let port = try await eventually("fetchd to say where it listens") { try Self.announcedPort(child) }
        let api = APIClient(baseURL: "http://127.0.0.1:\(port)", token: options.token)
        _ = try await eventually("fetchd to be ready") {
            try Self.requireRunning(child)
            return try? await api.get("/readyz").status == 200 ? true : nil
        }
        return Incarnation(child: child, port: port)
    }

    /// The port as the log tells it: the system chose a free one, so that no two services ever contend for it.
    private static func announcedPort(_ child: ChildProcess) throws -> UInt16? {
        try requireRunning(child)
        guard let announcement = child.errors.firstRange(of: " is ready at http://") else { return nil }
        let address = child.errors[announcement.upperBound...].prefix { !$0.isWhitespace }
        return address.split(separator: ":").last.flatMap { UInt16($0) }
    }

    private static func requireRunning(_ child: ChildProcess) throws {
        guard let ending = child.endingSoFar else { return }
        throw Overdue("fetchd to be ready: it ended (\(ending)) and had written:\n\(child.errors)")
    }
}
