import Glibc

/// Somewhere that bytes are written to, whole: standard output, standard error, a file.
struct OutputDescriptor: Sendable {
    let number: Int32
    /// As errors call it.
    let name: String

    static let standardOutput = OutputDescriptor(number: STDOUT_FILENO, name: "Standard output")
    static let standardError = OutputDescriptor(number: STDERR_FILENO, name: "Standard error")

    /// Writes all of it.
    ///
    /// Where nobody reads any more (`fetchd list | head -1`), the process ends as any other does: by SIGPIPE, without a
    /// word. It is ignored until then, because it would also come of connections. Of messages alone nobody has to read
    /// anything.
    func write(_ bytes: some Collection<UInt8>) throws(ClientError) {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                awaitRoom()
            } else if errno == EPIPE, number != STDERR_FILENO {
                signal(SIGPIPE, SIG_DFL)
                raise(SIGPIPE)
            } else if errno != EINTR {
                throw .unwritable(name, String(cString: strerror(errno)))
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
