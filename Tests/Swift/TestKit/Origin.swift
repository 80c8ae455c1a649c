/// An HTTP/1.1 server on loopback that misbehaves on request: the other end of every transfer test.
///
/// It is written on raw sockets and blocking threads, without code under test, and serves each path as the test says: a
/// correct resource, and behaviours that spoil it.
///
///     let origin = try Origin()
///     origin.serve("/file", .file(bytes, etag: "\"v1\""), .closing(after: 1000).once)
///     ... origin.url("/file") ...
///     #expect(origin.requests.map { $0.header("Range") } == [nil, "bytes=1000-"])
public final class Origin: Sendable {
    private let site = OriginSite()
    private let listener: OriginListener
    private let address: Loopback

    /// - Parameter port: the port of a stopped origin that is still referenced; nil for a free one.
    public init(at address: Loopback = .v4, port: UInt16? = nil) throws {
        self.address = address
        listener = try OriginListener(site: site, at: address, port: port)
    }

    deinit {
        listener.stop()
    }

    public var port: UInt16 { listener.port }

    public func url(_ path: String) -> String {
        "http://\(address.host):\(port)\(path)"
    }

    /// Serves a path, in place of an earlier resource, and counts its requests from 1 again. Other paths answer 404.
    public func serve(_ path: String, _ resource: OriginResource, _ behaviours: OriginBehaviour...) {
        site.serve(path, resource, behaviours)
    }

    public func serve(_ path: String, _ resource: OriginResource, _ behaviours: [OriginBehaviour]) {
        site.serve(path, resource, behaviours)
    }

    /// Stops listening and breaks every connection. The port is kept for another origin while this one is referenced.
    public func stop() {
        listener.stop()
    }

    // MARK: What was asked

    /// In the order received.
    public var requests: [RecordedRequest] { site.requests }

    public func requests(to path: String) -> [RecordedRequest] {
        requests.filter { $0.path == path }
    }

    /// Waits until a path was requested `count` times.
    @discardableResult
    public func waitForRequests(_ path: String, count: Int = 1, atMost timeout: Duration = .patience) async -> Bool {
        await site.waitForRequests(path, count: count, atMost: timeout)
    }

    /// Waits until no exchange is running, that is, the client has closed every stalled one.
    @discardableResult
    public func waitForSilence(atMost timeout: Duration = .patience) async -> Bool {
        await site.waitForSilence(atMost: timeout)
    }

    /// The largest number of concurrent exchanges so far.
    public var maxConcurrentRequests: Int { site.mostUnderWay }

    /// The number of accepted connections.
    public var connectionCount: Int { listener.connectionCount }
}
