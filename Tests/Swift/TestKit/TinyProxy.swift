import Foundation

/// tinyproxy: a real HTTP proxy that demands Basic credentials.
public final class TinyProxy: Sendable {
    public static let isAvailable = FileManager.default.isExecutableFile(atPath: program)

    private static let program = "/usr/bin/tinyproxy"

    /// Keeps the port for tinyproxy until it listens.
    private let reservation: LoopbackSocket
    private let folder: TemporaryFolder
    private let process: ChildProcess

    public init(demanding username: String, _ password: String) async throws {
        let reservation = try LoopbackSocket.bound()
        self.reservation = reservation
        folder = try TemporaryFolder()
        let configuration = """
            Port \(reservation.port)
            Listen 127.0.0.1
            Timeout 60
            MaxClients 20
            BasicAuth \(username) \(password)
            """
        try folder.write(configuration, to: "tinyproxy.conf")
        let process = try await ChildProcess(Self.program, ["-d", "-c", folder.path("tinyproxy.conf")])
        self.process = process
        _ = try await eventually("tinyproxy to listen") {
            if let ending = process.endingSoFar { throw Overdue("tinyproxy ended (\(ending)): \(process.errors)") }
            return try? LoopbackSocket.connected(to: reservation.port)
        }
    }

    public var port: UInt16 { reservation.port }
}
