import Glibc
import Synchronization

/// The name server's socket, and the thread that reads queries and sends answers when they are due.
///
/// The port of a name server cannot be chosen in /etc/resolv.conf, so each has its own address.
final class NameListener: Sendable {
    private typealias Question = (bytes: [UInt8], from: sockaddr_in)
    private typealias Reply = (bytes: [UInt8], to: sockaddr_in, due: ContinuousClock.Instant)

    let address: String
    let asked = Monitor<[String]>([])
    private let descriptor: Int32
    private let answers: @Sendable (String) -> NameServer.Answer
    /// Opened to end the thread.
    private let end = Gate()

    init(_ answers: @escaping @Sendable (String) -> NameServer.Answer) throws {
        self.answers = answers
        (descriptor, address) = try Self.bound()
        detachThread { [self] in serve() }
    }

    deinit { close(descriptor) }

    func stop() { end.open() }

    private func serve() {
        var replies: [Reply] = []
        while isAwake(until: replies.map(\.due).min()) {
            while let question = receive() {
                if let reply = reply(to: question) { replies.append(reply) }
            }
            let now = ContinuousClock.now
            for reply in replies where reply.due <= now { send(reply) }
            replies.removeAll { $0.due <= now }
        }
    }

    /// Blocks until there is a query, or the moment has come. False at the end.
    private func isAwake(until moment: ContinuousClock.Instant?) -> Bool {
        var watched = [descriptor, end.readingEnd].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let pause = moment.map { max(0, Int32(clamping: Int64(($0 - .now) / .milliseconds(1)) + 1)) } ?? -1
        while poll(&watched, nfds_t(watched.count), pause) < 0, errno == EINTR {}
        return watched[1].revents == 0
    }

    private func reply(to question: Question) -> Reply? {
        guard let query = NameQuery(question.bytes) else { return nil }
        asked.withLock { $0.append(query.name) }
        switch answers(query.name) {
        case .addresses(let addresses): return (query.answer(addresses), question.from, .now)
        case .unknown(let delay): return (query.denial, question.from, .now + delay)
        case .never: return nil
        }
    }

    private func receive() -> Question? {
        var (buffer, from) = ([UInt8](repeating: 0, count: 512), sockaddr_in())
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let count = withUnsafeMutablePointer(to: &from) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                recvfrom(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT), $0, &length)
            }
        }
        return count > 0 ? (Array(buffer.prefix(count)), from) : nil
    }

    private func send(_ reply: Reply) {
        // The client may have given up by now, which does not matter.
        _ = Self.withSocketAddress(reply.to) { sendto(descriptor, reply.bytes, reply.bytes.count, 0, $0, $1) }
    }

    private static let last = Atomic<UInt8>(0)

    /// Binds an address of 127.0.0.0/8 that no other server of this process has, and probably none of another.
    private static func bound() throws -> (descriptor: Int32, address: String) {
        let (number, process) = (last.add(1, ordering: .relaxed).newValue, UInt16(truncatingIfNeeded: getpid()))
        let address = "127.\(100 + number % 100).\(process >> 8).\(max(1, process & 0xFF))"
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw LoopbackSocket.Failure(call: "socket", errno: errno) }
        // A thousand questions may come at once.
        var bytes: Int32 = 4 << 20
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_addr.s_addr = inet_addr(address)
        place.sin_port = UInt16(53).bigEndian
        guard withSocketAddress(place, { bind(descriptor, $0, $1) }) == 0 else {
            let failure = LoopbackSocket.Failure(call: "bind", errno: errno)
            close(descriptor)
            throw failure
        }
        return (descriptor, address)
    }

    private static func withSocketAddress<Result>(
        _ address: sockaddr_in, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
