// libmicrohttpd as Swift: a server that carries requests to a handler and answers back, and knows nothing of what they
// are about. It brings what the library lacks: limits on time and size, long waits, streams and an orderly stop.

/// An HTTP/1.1 server that listens from its creation until ``stop(grace:)``.
///
///     let server = try HTTPServer(options: options, handler: routes)
///     ...
///     await server.stop(grace: .seconds(10))
///
/// A few network threads serve all connections (epoll); none of them is held up by an answer that takes its time, as
/// its connection sleeps meanwhile.
public final class HTTPServer: Sendable {
    /// The port that the server listens on; the system's choice when the options left it open.
    public let port: UInt16
    private let supervisor: ServerSupervisor

    /// Binds, listens and starts to answer.
    public init(options: Options = Options(), handler: any RequestHandler) throws(HTTPServerError) {
        try options.validate()
        let socket = try ListeningSocket(address: options.address, port: options.port)
        port = socket.port
        let context = try ServerContext(options: options, handler: handler)
        supervisor = ServerSupervisor(context)
        try supervisor.start(try MHDDaemon(context, listening: socket))
    }

    /// A server that nobody holds any more closes without grace, in the background.
    deinit { supervisor.stop(grace: .zero) {} }

    /// Stops taking connections, finishes every stream, lets exchanges under way end for at most `grace`, answers those
    /// that still wait with 503, and closes.
    ///
    /// Returns when the last thread and socket are gone. Calling it again waits for the same end.
    public func stop(grace: Duration) async {
        await withCheckedContinuation { continuation in
            supervisor.stop(grace: grace) { continuation.resume() }
        }
    }
}
