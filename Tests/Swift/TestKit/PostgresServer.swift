import Foundation
import Glibc

/// A PostgreSQL server of Debian's package with an empty database, in a folder of its own. It listens at a port of 127.0.0.1
/// and at a Unix socket. PostgreSQL refuses to run as root, so tests that run as root start it as `nobody`.
public final class PostgresServer: Sendable {
    public static var isAvailable: Bool { PostgresPrograms.installed != nil && !FastTests.areWanted }

    public struct Options: Sendable {
        /// Whether commits are synced to the disk. Not needed for crashes of the server alone.
        public var syncs = false
        /// Required over TCP; nil: no client needs a password.
        public var password: String?
        /// Enables TLS.
        public var certificate: Certificate?
        /// Lines of `postgresql.conf`.
        public var settings: [String] = []

        public init() {}

        /// As fetchd requires it.
        public static var durable: Self {
            var options = Self()
            options.syncs = true
            return options
        }
    }

    public enum Stop: Int32, Sendable {
        /// Waits for the clients to leave.
        case smart = 15
        /// Ends all connections, and writes a checkpoint.
        case fast = 2
        /// Ends all connections, and recovers at the next start, as after a crash.
        case immediate = 3
    }

    public static let user = "fetchd"

    /// Keeps the port for the server while it does not run.
    private let reservation: LoopbackSocket
    private let folder: TemporaryFolder
    private let programs: PostgresPrograms
    private let process = Monitor<ChildProcess?>(nil)
    private let password: String?

    public init(_ options: Options = .init()) async throws {
        guard let programs = PostgresPrograms.installed else { throw Overdue("PostgreSQL is not installed.") }
        self.programs = programs
        reservation = try .bound()
        folder = try TemporaryFolder()
        password = options.password
        try folder.write(options.password ?? "", to: "password")
        try PostgresPrograms.give(folder.path)
        try await initialise(options)
        try await start()
    }

    /// An asynchronous standby: a copy of a running server that receives all of its changes, and accepts no others before it is
    /// promoted.
    public init(following primary: PostgresServer) async throws {
        programs = primary.programs
        reservation = try .bound()
        folder = try TemporaryFolder()
        password = primary.password
        try PostgresPrograms.give(folder.path)
        let arguments = ["-D", folder.path("data"), "--checkpoint=fast", "--write-recovery-conf", "--no-sync"]
        try await run("pg_basebackup", arguments + ["--dbname=\(primary.socketURL)"])
        let copied = String(decoding: folder.bytes(of: "data/postgresql.auto.conf") ?? [], as: UTF8.self)
        let own = ["port = \(port)", "unix_socket_directories = '\(folder.path)'"]
        try folder.write(copied + own.map { $0 + "\n" }.joined(), to: "data/postgresql.auto.conf")
        try await start()
    }

    /// Makes a standby the primary.
    public func promote() async throws { try await run("pg_ctl", ["promote", "--wait", "-D", folder.path("data")]) }

    /// The URL of several servers. A client uses the primary.
    public static func socketURL(of servers: PostgresServer...) -> String {
        let hosts = servers.map { "\($0.folder.path.replacing("/", with: "%2F")):\($0.port)" }
        return "postgres://\(user)@\(hosts.joined(separator: ","))/postgres"
    }

    private func run(_ program: String, _ arguments: [String]) async throws {
        let child = try await programs.start(program, arguments, in: folder.path)
        guard try await child.waitForEnd() == .exited(0) else { throw Overdue("\(program) failed: \(child.errors)") }
    }

    /// The server removes its shared memory when it shuts down. If SIGKILL ends it, a segment stays until the machine restarts.
    deinit {
        guard let child = process.current, child.endingSoFar == nil else { return }
        // A paused server receives the signal when it continues.
        resume()
        child.signal(Stop.immediate.rawValue)
        let deadline = ContinuousClock.now + .seconds(10)
        while child.endingSoFar == nil, ContinuousClock.now < deadline { usleep(2000) }
        for process in processes { Glibc.kill(process, SIGKILL) }
    }

    public var port: UInt16 { reservation.port }

    /// The URL for a connection over TCP.
    ///
    /// - Parameters:
    ///   - parameters: such as `sslmode=require`.
    ///   - path: the port of a `NetworkPath`; nil: the server's own port.
    public func url(_ parameters: String = "", over path: UInt16? = nil) -> String {
        "postgres://\(credentials)@127.0.0.1:\(path ?? port)/postgres" + (parameters.isEmpty ? "" : "?\(parameters)")
    }

    /// The URL for a connection over the Unix socket.
    public var socketURL: String {
        "postgres://\(credentials)@\(folder.path.replacing("/", with: "%2F")):\(port)/postgres"
    }

    /// The log of the server.
    public var log: String { process.current?.errors ?? "" }

    /// Starts the server again, at the same port and with the same data. A crashed server recovers first.
    ///
    /// - Parameter waits: whether to wait until it accepts connections.
    public func start(waits: Bool = true) async throws {
        let child = try await programs.start("postgres", ["-D", folder.path("data")], in: folder.path)
        process.withLock { $0 = child }
        guard waits else { return }
        _ = try await eventually("PostgreSQL to accept connections") { [folder] in
            if let ending = child.endingSoFar { throw Overdue("PostgreSQL ended (\(ending)): \(child.errors)") }
            let lines = folder.bytes(of: "data/postmaster.pid").map { String(decoding: $0, as: UTF8.self) } ?? ""
            // A killed server leaves the file behind.
            let isOfThisServer = lines.hasPrefix("\(child.pid)\n")
            let answers = lines.contains("\nready") || lines.contains("\nstandby")
            return isOfThisServer && answers ? true : nil
        }
    }

    public func stop(_ stop: Stop = .fast) async throws {
        guard let child = process.withLock({ $0.take() }) else { return }
        child.signal(stop.rawValue)
        try await child.waitForEnd()
    }

    /// Sends SIGKILL to all processes of the server.
    public func kill() async throws {
        pause()
        let processes = processes
        guard let child = process.withLock({ $0.take() }) else { return }
        for process in processes { Glibc.kill(process, SIGKILL) }
        try await child.waitForEnd()
        // Until then the shared memory is in use, and the server refuses to start.
        _ = try await eventually("the processes of PostgreSQL to end") {
            processes.allSatisfy { Glibc.kill($0, 0) != 0 } ? true : nil
        }
    }

    /// Sends SIGSTOP to all processes of the server: connections stay open, and nothing answers.
    public func pause() { signal(SIGSTOP) }

    public func resume() { signal(SIGCONT) }

    /// Makes the stopped server a standby at its next start: it only reads.
    public func becomeStandby() throws { try folder.write("", to: "data/standby.signal") }

    private var credentials: String { password.map { "\(Self.user):\($0)" } ?? Self.user }

    /// The first one starts the others, so it stops first.
    private func signal(_ number: Int32) {
        guard let child = process.current else { return }
        child.signal(number)
        for process in PostgresPrograms.children(of: child.pid) { Glibc.kill(process, number) }
    }

    private var processes: [Int32] {
        guard let child = process.current, child.endingSoFar == nil else { return [] }
        return PostgresPrograms.children(of: child.pid) + [child.pid]
    }

    private func initialise(_ options: Options) async throws {
        var arguments = ["-D", folder.path("data"), "-U", Self.user, "--no-locale", "--encoding=UTF8", "--no-sync"]
        arguments += ["--auth-local=trust", "--auth-host=\(options.password == nil ? "trust" : "scram-sha-256")"]
        if options.password != nil { arguments.append("--pwfile=\(folder.path("password"))") }
        try await run("initdb", arguments)
        var settings = [
            "listen_addresses = '127.0.0.1'", "port = \(port)", "unix_socket_directories = '\(folder.path)'",
            "max_connections = 300", "shared_buffers = 16MB", "fsync = \(options.syncs ? "on" : "off")",
            // In the server's folder, so that nothing stays in /dev/shm when the server is killed.
            "dynamic_shared_memory_type = mmap",
        ]
        if let certificate = options.certificate {
            for (name, path) in [("certificate.pem", certificate.path), ("key.pem", certificate.keyPath)] {
                try FileManager.default.copyItem(atPath: path, toPath: folder.path(name))
                try PostgresPrograms.give(folder.path(name), mode: 0o600)
            }
            settings += ["ssl = on", "ssl_cert_file = '\(folder.path("certificate.pem"))'"]
            settings.append("ssl_key_file = '\(folder.path("key.pem"))'")
        }
        let lines = (settings + options.settings).map { $0 + "\n" }
        try folder.write(lines.joined(), to: "data/postgresql.auto.conf")
    }
}
