import Glibc

/// A TLS server with a certificate that nobody vouches for: `openssl s_server`, as a process of its own.
///
/// It answers every GET with a page about the handshake, which is all that tests of trust need.
public final class TLSOrigin: Sendable {
    public struct Unavailable: Error {
        public let reason: String
    }

    public static let isAvailable = access(openssl, X_OK) == 0

    private static let openssl = "/usr/bin/openssl"

    public let port: UInt16
    private let process: pid_t
    private let directory: String

    public init() throws {
        directory = try Self.makeDirectory()
        let (key, certificate) = ("\(directory)/key.pem", "\(directory)/certificate.pem")
        let request = [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1",
            "-subj", "/CN=localhost", "-keyout", key, "-out", certificate,
        ]
        var status: Int32 = 0
        waitpid(try Self.spawn(request, output: "/dev/null"), &status, 0)
        guard status == 0 else { throw Unavailable(reason: "openssl req ended with \(status)") }
        let log = "\(directory)/log"
        process = try Self.spawn(
            ["s_server", "-accept", "127.0.0.1:0", "-key", key, "-cert", certificate, "-www"], output: log)
        guard let port = Self.announcedPort(in: log) else { throw Unavailable(reason: "s_server named no port") }
        self.port = port
    }

    deinit {
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
        for file in ["key.pem", "certificate.pem", "log"] { unlink("\(directory)/\(file)") }
        rmdir(directory)
    }

    public func url(_ path: String) -> String {
        "https://localhost:\(port)\(path)"
    }

    /// The certificate as a file, for who wants to trust it.
    public var certificatePath: String { "\(directory)/certificate.pem" }

    private static func makeDirectory() throws -> String {
        var template = Array("/tmp/tls-origin-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Unavailable(reason: "mkdtemp: errno \(errno)") }
        return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private static func spawn(_ arguments: [String], output: String) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        var strings = ([openssl] + arguments).map { strdup($0) } + [nil]
        defer { for string in strings { free(string) } }
        var process: pid_t = 0
        let failure = posix_spawn(&process, openssl, &actions, nil, &strings, environ)
        guard failure == 0 else { throw Unavailable(reason: "posix_spawn: errno \(failure)") }
        return process
    }

    /// What `ACCEPT 127.0.0.1:34567` says, once the server has written it. There is nothing to wait on but the file.
    private static func announcedPort(in log: String) -> UInt16? {
        for _ in 0..<1_000 {
            let lines = read(log).split(separator: "\n")
            if let line = lines.first(where: { $0.hasPrefix("ACCEPT") }), let port = line.split(separator: ":").last {
                return UInt16(port)
            }
            usleep(10_000)
        }
        return nil
    }

    private static func read(_ path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        let bytes = [UInt8](unsafeUninitializedCapacity: 4_096) { buffer, count in
            count = max(0, Glibc.read(descriptor, buffer.baseAddress, buffer.count))
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
