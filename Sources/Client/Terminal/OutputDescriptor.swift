import Glibc

/// Standard output or standard error, written whole.
struct OutputDescriptor: Sendable {
    let number: Int32

    static let standardOutput = OutputDescriptor(number: 1)
    static let standardError = OutputDescriptor(number: 2)

    /// Writes all of it.
    ///
    /// Where nobody reads any more (`fetchd list | head -1`), the process ends as any other does: by SIGPIPE, without a
    /// word. It is ignored until then, because it would also come of connections.
    func write(_ bytes: some Collection<UInt8>) throws(ClientError) {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                awaitRoom()
            } else if errno == EPIPE {
                signal(SIGPIPE, SIG_DFL)
                raise(SIGPIPE)
            } else if errno != EINTR {
                throw .unwritable(
                    number == 1 ? "Standard output" : "Standard error", String(cString: strerror(errno)))
            }
        }
    }

    func write(_ text: String) throws(ClientError) { try write(text.utf8) }
    func writeLine(_ text: String) throws(ClientError) { try write(text + "\n") }

    /// Of a descriptor that somebody has made non-blocking.
    private func awaitRoom() {
        var poll = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
        Glibc.poll(&poll, 1, -1)
    }
}
