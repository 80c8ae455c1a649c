import Formats
import Glibc
import HTTPServer
import HTTPTypes

/// The bytes of a connection, to a server on a Unix domain socket.
extension FuzzTarget {
    /// The server sends whole responses, at most one for each line, and then closes the connection. It serves others.
    static let requestHead = FuzzTarget("request-head") { bytes in
        let answer = EchoServer.shared.exchange(bytes)
        // libmicrohttpd answers some heads by itself, with a page, and a malformed Content-Length with two status lines
        // (docs/operations.md, "Malformed requests"). An EchoServer has no page of its own.
        guard answer.firstRange(of: Array("<html".utf8)) == nil else { return }
        let responses = EchoServer.responses(in: answer)
        require(responses != nil, "not a series of responses")
        let lines = bytes.count { $0 == 0x0A }
        require((responses ?? []).count <= lines + 1, "more responses than requests")
    }
}

/// A server that sends back what it was sent.
private final class EchoServer: Sendable {
    static let shared = EchoServer()

    private struct Handler: RequestHandler {
        func admit(_ head: RequestHead) -> RouteDecision {
            require(!head.target.utf8.contains { $0 <= 0x20 || $0 == 0x7F }, "a control character in the target")
            require(!(head.host ?? "").utf8.contains { [0, 10, 13].contains($0) }, "a line break in the host")
            return .accept(maxBodyBytes: 1_000) { .now(Response(status: .ok, body: .bytes($0.body))) }
        }

        func malformed(_ fault: RequestFault, _ head: RequestHead?) -> Response { Response(status: fault.status) }
    }

    private let server: HTTPServer
    private let path = "/tmp/fetchd-fuzz.\(getpid())"

    private init() {
        var options = HTTPServer.Options()
        (options.address, options.threads) = (nil, 1)
        options.unixSocket = UnixSocket(path: path)
        // The end of the input must be noticed soon.
        options.headDeadline = .milliseconds(100)
        do { server = try HTTPServer(options: options, handler: Handler()) } catch { fatalError("\(error)") }
    }

    /// Sends the bytes and then the end, and returns everything that comes back.
    func exchange(_ bytes: [UInt8]) -> [UInt8] {
        let descriptor = connected()
        defer { close(descriptor) }
        _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        shutdown(descriptor, Int32(SHUT_WR))
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return answer }
            answer += buffer[..<count]
        }
    }

    private func connected() -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        require(result == 0, "the server accepts no connection: \(errno)")
        return descriptor
    }

    /// The statuses of the responses; nil if the bytes are something else.
    static func responses(in bytes: [UInt8]) -> [Int]? {
        var statuses: [Int] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            guard rest.starts(with: "HTTP/1.".utf8), let end = rest.firstRange(of: Array("\r\n\r\n".utf8)) else {
                return nil
            }
            let head = String(decoding: rest[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
            guard let status = head[0].split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else { return nil }
            let length = head.first { $0.lowercased().hasPrefix("content-length:") }
                .flatMap { Int($0.dropFirst(15).drop { $0 == " " }) }
            rest = rest[end.upperBound...]
            // A response to HEAD announces a length and has no body: it is the last one.
            guard status < 200 || rest.count >= length ?? 0 else { return rest.isEmpty ? statuses + [status] : nil }
            if status >= 200 { rest = rest.dropFirst(length ?? 0) }
            statuses.append(status)
        }
        return statuses
    }
}
