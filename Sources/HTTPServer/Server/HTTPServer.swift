/// An HTTP/1.1 server that listens from its creation until ``stop(grace:)``. It passes requests to a handler and sends
/// the responses. It adds to libmicrohttpd: limits on time and size, responses that take long, streams, and an orderly
/// stop.
///
///     let server = try HTTPServer(options: options, handler: routes)
///     ...
///     await server.stop(grace: .seconds(10))
///
/// A few network threads serve all connections (epoll). A response that takes long blocks none of them, because its
/// connection is suspended.
public final class HTTPServer: Sendable {
    /// The port on which the server listens; 0 without TCP. The system chooses it if the option is 0.
    public let port: UInt16
    private let supervisor: ServerSupervisor

    /// Binds the address, listens, and starts to serve requests.
    public init(options: Options = Options(), handler: any RequestHandler) throws(HTTPServerError) {
        try options.validate()
        let network = try options.address.map { address throws(HTTPServerError) in
            try ListeningSocket(address: address, port: options.port)
        }
        let local = try options.unixSocket.map { socket throws(HTTPServerError) in
            try UnixListeningSocket(socket)
        }
        port = network?.port ?? 0
        let context = try ServerContext(options: options, handler: handler)
        supervisor = ServerSupervisor(context)
        try supervisor.start(try Listeners(context, network: network, local: local))
    }

    /// When the last reference to the server ends, it stops without grace, in the background.
    deinit { supervisor.stop(grace: .zero) {} }

    /// Stops the server: it refuses new connections, finishes every stream, gives running exchanges at most `grace` to
    /// complete, responds with 503 to requests that still wait, and closes all connections.
    ///
    /// Returns when the last thread and socket are closed. Further calls wait for the same end.
    public func stop(grace: Duration) async {
        await withCheckedContinuation { continuation in
            supervisor.stop(grace: grace) { continuation.resume() }
        }
    }
}
