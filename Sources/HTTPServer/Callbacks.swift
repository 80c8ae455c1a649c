import CMicroHTTPD
import Glibc

// The callbacks of libmicrohttpd. Only this file converts its untyped pointers to objects.
//
// They are top-level functions, because a closure that inherits the isolation of an actor would trap on the threads of
// the library. Ownership: the context pointer of a connection holds a reference to its `Connection`, from the
// notification that it has started to the notification that it has closed. The context pointer of a request holds a
// reference to its `Exchange`, from the request line to the notification that the request has completed. The library
// sends each notification exactly once, on the thread of the connection.

extension mhd_callbacks {
    /// - Parameter context: a `ServerContext` that outlives the daemon.
    init(context: UnsafeMutableRawPointer) {
        self.init(
            context: context, accept: acceptConnection, connection: connectionChanged, request_line: beginExchange,
            unescape: leaveEscaped, access: advanceExchange, completed: endExchange)
    }
}

private func serverContext(_ context: UnsafeMutableRawPointer) -> ServerContext {
    Unmanaged<ServerContext>.fromOpaque(context).takeUnretainedValue()
}

/// Refuses new clients beyond the limit of their address, and while the server closes. MHD_quiesce_daemon would stop listening,
/// but version 0.9.75 aborts the process if a thread of the pool removes the listening socket from its epoll set at the same
/// moment.
private func acceptConnection(
    context: UnsafeMutableRawPointer?, address: UnsafePointer<sockaddr>?, length: socklen_t
) -> MHD_Result {
    guard let context else { return .NO }
    return serverContext(context).admits(address) ? .YES : .NO
}

private func connectionChanged(
    context: UnsafeMutableRawPointer?, handle: OpaquePointer?,
    connectionContext: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, notice: MHD_ConnectionNotificationCode
) {
    guard let context, let handle, let connectionContext else { return }
    let server = serverContext(context)
    switch notice {
    case .CONNECTION_NOTIFY_STARTED:
        let address = mhd_connection_client_address(handle)
        let connection = Connection(
            socket: mhd_connection_socket(handle), remoteAddress: RequestHead.remoteAddress(address),
            network: server.limitedNetwork(address))
        connectionContext.pointee = Unmanaged.passRetained(connection).toOpaque()
        server.insert(connection)
    case .CONNECTION_NOTIFY_CLOSED:
        guard let pointer = connectionContext.pointee else { return }
        connectionContext.pointee = nil
        let connection = Unmanaged<Connection>.fromOpaque(pointer).takeRetainedValue()
        if let descriptor = connection.close() { server.linger(on: descriptor) }
        server.remove(connection)
    @unknown default: break
    }
}

/// The library calls this with the request line, before it divides the target into path and arguments.
private func beginExchange(
    context: UnsafeMutableRawPointer?, target: UnsafePointer<CChar>?, handle: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    guard let context, let handle, let pointer = mhd_connection_context(handle) else { return nil }
    let connection = Unmanaged<Connection>.fromOpaque(pointer).takeUnretainedValue()
    let text = target.flatMap { String(validatingCString: $0) }
    if let target { mhd_hide_arguments(target) }
    let exchange = Exchange(server: serverContext(context), connection: connection, target: text)
    return Unmanaged.passRetained(exchange).toOpaque()
}

/// The library has sent the response to a handshake. Its own connection ends, and the duplicate of the socket goes on.
func takeOverSocket(
    context: UnsafeMutableRawPointer?, handle: OpaquePointer?, requestContext: UnsafeMutableRawPointer?,
    received: UnsafePointer<CChar>?, count: Int, socket: MHD_socket, upgraded: OpaquePointer?
) {
    if let requestContext {
        let exchange = Unmanaged<Exchange>.fromOpaque(requestContext).takeUnretainedValue()
        exchange.handOver(socket, received: [UInt8](UnsafeRawBufferPointer(start: received, count: count)))
    }
    if let upgraded { _ = mhd_end_upgraded(upgraded) }
}

/// Keeps percent-encoding unchanged. Only the handler knows which parts of a target to decode, and a decoded `%00`
/// would cut the target short.
private func leaveEscaped(
    context: UnsafeMutableRawPointer?, handle: OpaquePointer?, text: UnsafeMutablePointer<CChar>?
) -> Int { text.map { strlen($0) } ?? 0 }

private func advanceExchange(
    context: UnsafeMutableRawPointer?, handle: OpaquePointer?, url: UnsafePointer<CChar>?,
    method: UnsafePointer<CChar>?, version: UnsafePointer<CChar>?, piece: UnsafePointer<CChar>?,
    pieceSize: UnsafeMutablePointer<Int>?, requestContext: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let handle, let pieceSize, let pointer = requestContext?.pointee,
        let line = RequestLine(url: url, method: method, version: version)
    else { return .NO }
    let exchange = Unmanaged<Exchange>.fromOpaque(pointer).takeUnretainedValue()
    let bytes = UnsafeRawBufferPointer(start: piece, count: pieceSize.pointee)
    let result = exchange.advance(handle, line: line, piece: bytes)
    pieceSize.pointee = 0
    return result
}

private func endExchange(
    context: UnsafeMutableRawPointer?, handle: OpaquePointer?,
    requestContext: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, reason: MHD_RequestTerminationCode
) {
    guard let pointer = requestContext?.pointee else { return }
    requestContext?.pointee = nil
    Unmanaged<Exchange>.fromOpaque(pointer).takeRetainedValue().end()
}
