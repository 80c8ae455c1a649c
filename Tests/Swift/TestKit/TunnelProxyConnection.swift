/// One connection to the proxy: the negotiation, and the tunnel.
struct TunnelProxyConnection: Sendable {
    /// The client has closed the connection, or is refused.
    private struct Ended: Error {}

    let client: LoopbackSocket
    let credentials: String?
    let refusal: TunnelProxy.Refusal?
    let note: @Sendable (TunnelProxy.Tunnel) -> Void

    func serve() {
        defer { client.shutDown() }
        var reader = Reader(socket: client)
        guard let first = try? reader.bytes(1)[0],
            let server = try? first == 5 ? serveSOCKS(&reader) : serveConnect(&reader, first)
        else { return }
        detachThread { [client] in
            Self.pump(from: server, to: client)
        }
        guard server.send(reader.buffered[...]) else { return }
        Self.pump(from: client, to: server)
    }

    private static func pump(from source: LoopbackSocket, to sink: LoopbackSocket) {
        while true {
            let bytes = source.receive()
            guard !bytes.isEmpty, sink.send(bytes[...]) else { break }
        }
        source.shutDown()
        sink.shutDown()
    }

    private func send(_ bytes: [UInt8]) throws(Ended) {
        guard client.send(bytes[...]) else { throw Ended() }
    }

    private func connect(to port: UInt16) throws(Ended) -> LoopbackSocket {
        do { return try .connected(to: port) } catch { throw Ended() }
    }
}

// MARK: - CONNECT

extension TunnelProxyConnection {
    private func serveConnect(_ reader: inout Reader, _ first: UInt8) throws(Ended) -> LoopbackSocket {
        let head = String(decoding: [first] + (try reader.head()), as: UTF8.self)
        guard let request = RecordedRequest(head: head, body: [], connection: 0), request.method == "CONNECT",
            let port = request.target.split(separator: ":").last.flatMap({ UInt16($0) })
        else { throw Ended() }
        let given = request.header("Proxy-Authorization")
        let fields = request.headers.map { "\($0.name): \($0.value)" }
        note(TunnelProxy.Tunnel(target: request.target, credentials: given, fields: fields))
        if let credentials, given != "Basic \(base64(credentials))" { try refuse(407) }
        switch refusal {
        case .status(let status): try refuse(status)
        case .hangingUp: throw Ended()
        case .reply, nil: break
        }
        let server = try connect(to: port)
        try send(Array("HTTP/1.1 200 Connection established\r\nX-Proxy: yes\r\n\r\n".utf8))
        return server
    }

    private func refuse(_ status: Int) throws(Ended) {
        let challenge = status == 407 ? "Proxy-Authenticate: Basic realm=\"proxy\"\r\n" : ""
        try send(Array("HTTP/1.1 \(status) No\r\n\(challenge)Content-Length: 4\r\n\r\nNo.\n".utf8))
        throw Ended()
    }
}

// MARK: - SOCKS version 5 (RFC 1928, RFC 1929)

extension TunnelProxyConnection {
    private func serveSOCKS(_ reader: inout Reader) throws(Ended) -> LoopbackSocket {
        let methods = try reader.bytes(Int(try reader.bytes(1)[0]))
        let offersCredentials = methods.contains(2)
        guard offersCredentials || credentials == nil else {
            try send([5, 0xFF])
            throw Ended()
        }
        // Requested whenever they are offered, so that tests can check them.
        let given = offersCredentials ? try authenticate(&reader) : try welcome()
        let (target, port) = try readRequest(&reader)
        note(TunnelProxy.Tunnel(target: target, credentials: given, fields: []))
        switch refusal {
        case .reply(let code):
            try send([5, code, 0, 1, 0, 0, 0, 0, 0, 0])
            throw Ended()
        case .hangingUp: throw Ended()
        case .status, nil: break
        }
        let server = try connect(to: port)
        try send([5, 0, 0, 1, 127, 0, 0, 1, 0, 0])
        return server
    }

    private func welcome() throws(Ended) -> String? {
        try send([5, 0])
        return nil
    }

    private func authenticate(_ reader: inout Reader) throws(Ended) -> String {
        try send([5, 2])
        _ = try reader.bytes(1)
        let username = try reader.bytes(Int(try reader.bytes(1)[0]))
        let password = try reader.bytes(Int(try reader.bytes(1)[0]))
        let given = String(decoding: username + Array(":".utf8) + password, as: UTF8.self)
        let isWelcome = credentials == nil || credentials == given
        try send([1, isWelcome ? 0 : 1])
        guard isWelcome else { throw Ended() }
        return given
    }

    private func readRequest(_ reader: inout Reader) throws(Ended) -> (target: String, port: UInt16) {
        let kind = try reader.bytes(4)[3]
        let host: String
        switch kind {
        case 1: host = try reader.bytes(4).map(String.init).joined(separator: ".")
        case 3: host = String(decoding: try reader.bytes(Int(try reader.bytes(1)[0])), as: UTF8.self)
        default: throw Ended()
        }
        let port = try reader.bytes(2)
        let number = UInt16(port[0]) << 8 | UInt16(port[1])
        return ("\(host):\(number)", number)
    }
}

extension TunnelProxyConnection {
    /// Reads the requested number of bytes from a socket.
    private struct Reader {
        let socket: LoopbackSocket
        private(set) var buffered: [UInt8] = []

        init(socket: LoopbackSocket) {
            self.socket = socket
        }

        mutating func bytes(_ count: Int) throws(Ended) -> [UInt8] {
            while buffered.count < count { try fill() }
            defer { buffered.removeFirst(count) }
            return Array(buffered[..<count])
        }

        /// Everything before the empty line, which is consumed too.
        mutating func head() throws(Ended) -> [UInt8] {
            while true {
                if let end = buffered.firstRange(of: Array("\r\n\r\n".utf8)) {
                    defer { buffered.removeSubrange(..<end.upperBound) }
                    return Array(buffered[..<end.lowerBound])
                }
                try fill()
            }
        }

        private mutating func fill() throws(Ended) {
            let more = socket.receive()
            guard !more.isEmpty else { throw Ended() }
            buffered += more
        }
    }
}
