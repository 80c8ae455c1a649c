import Foundation

/// nginx with TLS in front of a service on a Unix domain socket, as examples/nginx.conf configures it.
public final class NginxProxy: Sendable {
    /// Keeps the port for nginx.
    private let reservation: LoopbackSocket
    private let folder: TemporaryFolder
    private let process: ChildProcess

    /// - Parameters:
    ///   - example: the text of examples/nginx.conf. Its paths and its port are replaced.
    ///   - socket: the path of the socket of the service.
    public init(example: String, socket: String, certificate: Certificate) async throws {
        reservation = try .bound()
        folder = try TemporaryFolder()
        let server = example.replacing("/run/fetchd/fetchd.sock", with: socket)
            .replacing("listen 443", with: "listen 127.0.0.1:\(reservation.port)")
            .replacing("/etc/ssl/certs/downloads.example.org.pem", with: certificate.path)
            .replacing("/etc/ssl/private/downloads.example.org.key", with: certificate.keyPath)
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \($0);" }
        try folder.write(
            """
            daemon off;
            master_process off;
            pid nginx.pid;
            events {}
            http {
                access_log off;
                \(temporary.joined(separator: " "))
                \(server)
            }
            """, to: "nginx.conf")
        process = try await ChildProcess(
            "/usr/sbin/nginx", ["-p", folder.path + "/", "-c", "nginx.conf", "-e", "errors.log"])
        _ = try await eventually("nginx to listen") { [process, port = reservation.port] in
            if let ending = process.endingSoFar { throw Overdue("nginx ended (\(ending)): \(process.errors)") }
            return try? LoopbackSocket.connected(to: port)
        }
    }

    deinit { process.signal(9) }

    public var port: UInt16 { reservation.port }
}
