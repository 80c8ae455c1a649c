// A client with plain sockets, which sends exactly the given bytes. An HTTP library would refuse to send most of these
// requests.

import Glibc

/// One blocking TCP connection to a server under test.
final class RawClient {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private let descriptor: Int32
    private var received: [UInt8] = []

    /// - Parameter receiveBuffer: in bytes. A small buffer soon stops the sender.
    init(_ port: UInt16, ipv6: Bool = false, receiveBuffer: Int32? = nil) throws {
        descriptor = socket(ipv6 ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(description: "socket: errno \(errno)") }
        if let receiveBuffer { set(SOL_SOCKET, SO_RCVBUF, receiveBuffer) }
        // Only a hanging test takes longer.
        set(SOL_SOCKET, SO_RCVTIMEO, timeval(tv_sec: 60, tv_usec: 0))
        set(SOL_SOCKET, SO_SNDTIMEO, timeval(tv_sec: 60, tv_usec: 0))
        set(Int32(IPPROTO_TCP), TCP_NODELAY, Int32(1))
        guard ipv6 ? connect6(port) : connect4(port) else { throw Failure(description: "connect: errno \(errno)") }
    }

    /// - Parameter path: the path of a Unix domain socket.
    init(path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(description: "socket: errno \(errno)") }
        set(SOL_SOCKET, SO_RCVTIMEO, timeval(tv_sec: 60, tv_usec: 0))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        guard connect(to: address) else { throw Failure(description: "connect: errno \(errno)") }
    }

    deinit { Glibc.close(descriptor) }

    func send(_ text: String) throws {
        try send(Array(text.utf8))
    }

    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure(description: "send: errno \(errno)") }
            sent += count
        }
    }

    /// Sends a request with the mandatory fields, and returns its response.
    func exchange(
        _ method: String = "GET", _ target: String = "/", fields: [String] = [], body: String? = nil
    ) throws -> RawResponse {
        try send(Self.request(method, target, fields: fields, body: body))
        return try readResponse(toHead: method == "HEAD")
    }

    static func request(
        _ method: String = "GET", _ target: String = "/", fields: [String] = [], body: String? = nil
    ) -> String {
        let length = body.map { ["Content-Length: \($0.utf8.count)"] } ?? []
        let lines = ["\(method) \(target) HTTP/1.1", "Host: test"] + fields + length
        return lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? "")
    }

    func readResponse(toHead: Bool = false) throws -> RawResponse {
        var response = try readHead()
        if toHead || response.status == 204 || response.status == 304 || response.status < 200 { return response }
        if response["transfer-encoding"] == "chunked" {
            while let chunk = try readChunk() { response.body += chunk }
        } else if let length = response["content-length"].flatMap({ Int($0) }) {
            response.body = try read(count: length)
        } else {
            response.body = try readUntilClosed()
        }
        return response
    }

    func readHead() throws -> RawResponse {
        var lines: [String] = []
        while true {
            let line = try readLine()
            if line.isEmpty { break }
            lines.append(line)
        }
        guard let response = RawResponse(headLines: lines) else { throw Failure(description: "no head: \(lines)") }
        return response
    }

    /// The next chunk of a chunked body; nil at its end.
    func readChunk() throws -> [UInt8]? {
        let line = try readLine()
        guard let size = Int(line, radix: 16) else { throw Failure(description: "no chunk size: \(line)") }
        let bytes = try read(count: size)
        guard try readLine().isEmpty else { throw Failure(description: "chunk without end") }
        return size == 0 ? nil : bytes
    }

    func read(count: Int) throws -> [UInt8] {
        while received.count < count {
            guard try receive() else {
                throw Failure(description: "closed after \(received.count) of \(count) bytes")
            }
        }
        defer { received.removeFirst(count) }
        return Array(received.prefix(count))
    }

    /// All bytes until the connection ends, orderly or not.
    func readUntilClosed() throws -> [UInt8] {
        while try receive() {}
        defer { received = [] }
        return received
    }

    /// All responses until the connection ends. The bytes must be whole responses, and none to HEAD.
    func readResponsesUntilClosed() throws -> [RawResponse] {
        var responses: [RawResponse] = []
        while true {
            if received.isEmpty, try !receive() { return responses }
            responses.append(try readResponse())
        }
    }

    /// Shuts down writing; the client still reads.
    func shutdownWriting() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Makes the client close with a reset when it is released.
    func resetOnClose() {
        set(SOL_SOCKET, SO_LINGER, linger(l_onoff: 1, l_linger: 0))
    }

    private func readLine() throws -> String {
        while true {
            if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                let line = received[..<end]
                received.removeFirst(end + 1)
                guard line.last == UInt8(ascii: "\r") else { throw Failure(description: "bare LF from the server") }
                return String(decoding: line.dropLast(), as: UTF8.self)
            }
            guard try receive() else { throw Failure(description: "closed within a line") }
        }
    }

    /// Returns false at the end of the connection.
    private func receive() throws -> Bool {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var count: Int
        // With a time limit, a call that a stop of the process interrupts does not start again by itself (signal(7)).
        repeat { count = recv(descriptor, &buffer, buffer.count, 0) } while count < 0 && errno == EINTR
        if count > 0 {
            received += buffer[..<count]
            return true
        }
        guard count == 0 || errno == ECONNRESET else { throw Failure(description: "recv: errno \(errno)") }
        return false
    }

    private func set<Value: BitwiseCopyable>(_ level: Int32, _ option: Int32, _ value: Value) {
        _ = withUnsafeBytes(of: value) {
            setsockopt(descriptor, level, option, $0.baseAddress, socklen_t($0.count))
        }
    }

    private func connect4(_ port: UInt16) -> Bool {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        return connect(to: address)
    }

    private func connect6(_ port: UInt16) -> Bool {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        inet_pton(AF_INET6, "::1", &address.sin6_addr)
        return connect(to: address)
    }

    private func connect<Address>(to address: Address) -> Bool {
        withUnsafeBytes(of: address) { bytes in
            Glibc.connect(
                descriptor, bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self),
                socklen_t(MemoryLayout<Address>.size)) == 0
        }
    }
}

/// A response as it was received.
struct RawResponse {
    var status: Int
    var fields: [(name: String, value: String)] = []
    var body: [UInt8] = []

    init?(headLines: [String]) {
        guard let first = headLines.first, first.hasPrefix("HTTP/1.1 "), let status = Int(first.dropFirst(9).prefix(3))
        else { return nil }
        self.status = status
        for line in headLines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { return nil }
            fields.append((parts[0].lowercased(), String(parts[1].drop(while: { $0 == " " }))))
        }
    }

    /// The value of a field; nil if it is missing or repeated.
    subscript(name: String) -> String? {
        let values = fields.filter { $0.name == name }
        return values.count == 1 ? values[0].value : nil
    }

    var text: String { String(decoding: body, as: UTF8.self) }
    var closes: Bool { self["connection"]?.lowercased() == "close" }
}
