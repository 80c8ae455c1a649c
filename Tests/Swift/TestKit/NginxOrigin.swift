import Foundation

/// nginx in front of a folder: the well-behaved origin, with the validators, ranges and conditions of most web servers.
public final class NginxOrigin: Sendable {
    public static let isAvailable = FileManager.default.isExecutableFile(atPath: program)

    private static let program = "/usr/sbin/nginx"

    public struct Options: Sendable {
        /// The rate of requests without a range; range requests are not limited. nil for the maximum.
        public var bytesPerSecond: Int?
        public var sendsETags = true
        /// Whether it speaks HTTP/2 only, without TLS.
        public var isHTTP2 = false

        public init(bytesPerSecond: Int? = nil, sendsETags: Bool = true, isHTTP2: Bool = false) {
            self.bytesPerSecond = bytesPerSecond
            self.sendsETags = sendsETags
            self.isHTTP2 = isHTTP2
        }
    }

    /// Keeps the port for nginx while it does not run.
    private let reservation: LoopbackSocket
    /// Holds `files`, the served folder.
    private let folder: TemporaryFolder
    private let options: Options
    private let process = Monitor<ChildProcess?>(nil)

    public init(_ options: Options = .init()) async throws {
        self.options = options
        reservation = try .bound()
        folder = try TemporaryFolder()
        try folder.write(configuration, to: "nginx.conf")
        for name in ["files", "temporary"] {
            try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
        }
        try await start()
    }

    public var port: UInt16 { reservation.port }

    public func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    /// Puts a file into the folder, in place of an earlier one.
    ///
    /// - Parameters:
    ///   - path: `/name`.
    ///   - modified: its `Last-Modified`, and half of its `ETag`; both have a precision of seconds.
    public func put(
        _ bytes: [UInt8], at path: String, modified: Date = Date(timeIntervalSince1970: 1_566_228_194)
    ) throws {
        let file = folder.path("files\(path)")
        try Data(bytes).write(to: URL(filePath: file), options: .atomic)
        try FileManager.default.setAttributes([.modificationDate: modified], ofItemAtPath: file)
    }

    /// Sends SIGKILL: every connection breaks, and the port refuses new ones.
    public func kill() async throws {
        guard let child = process.withLock({ $0.take() }) else { return }
        child.signal(9)
        try await child.waitForEnd()
    }

    /// Starts nginx again at the same port.
    public func start() async throws {
        let child = try await ChildProcess(
            Self.program, ["-p", folder.path + "/", "-c", "nginx.conf", "-e", "errors.log"])
        process.withLock { $0 = child }
        _ = try await eventually("nginx to listen") { [port] in
            if let ending = child.endingSoFar { throw Overdue("nginx ended (\(ending)): \(child.errors)") }
            return try? LoopbackSocket.connected(to: port)
        }
    }

    /// Configures one process, so that one kill ends nginx.
    private var configuration: String {
        """
        daemon off;
        master_process off;
        pid nginx.pid;
        events {}
        http {
            access_log off;
            client_body_temp_path temporary/body;
            proxy_temp_path temporary/proxy;
            fastcgi_temp_path temporary/fastcgi;
            uwsgi_temp_path temporary/uwsgi;
            scgi_temp_path temporary/scgi;
            default_type application/octet-stream;
            etag \(options.sendsETags ? "on" : "off");
            server {
                listen 127.0.0.1:\(port)\(options.isHTTP2 ? " http2" : "");
                root files;
                \(options.bytesPerSecond.map { "if ($http_range = \"\") { set $limit_rate \($0); }" } ?? "")
            }
        }
        """
    }
}
