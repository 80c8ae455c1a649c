/// A running service, in the process of the tests (`LocalService`) or in its own process (`FetchdProcess`).
public protocol TestedService: Sendable {
    /// Holds `data` and `downloads`.
    var folder: TemporaryFolder { get }
    var port: UInt16 { get }
    /// Sends the service's token.
    var api: APIClient { get }
    /// The log since the service's last start.
    var log: String { get }

    /// Stops the service in an orderly way: SIGTERM to a process.
    func stop() async throws
}

extension TestedService {
    public var baseURL: String { "http://127.0.0.1:\(port)" }

    /// A finished file's bytes, by its path from the downloads folder.
    public func downloaded(_ path: String) -> [UInt8]? { folder.bytes(of: "downloads/\(path)") }
}
