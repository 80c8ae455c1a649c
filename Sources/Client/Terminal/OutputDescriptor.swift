import Glibc

/// A descriptor for output: standard output, standard error, or a file.
struct OutputDescriptor: Sendable {
    let number: Int32
    /// The name in errors.
    let name: String

    static let standardOutput = OutputDescriptor(number: STDOUT_FILENO, name: "Standard output")
    static let standardError = OutputDescriptor(number: STDERR_FILENO, name: "Standard error")

    /// Writes all bytes.
    ///
    /// If the reader has closed the pipe (`fetchd list | head -1`), the process ends by SIGPIPE, as other programs do. Until
    /// then the process ignores the signal, because a closed connection would also raise it. A closed standard error does not
    /// end the process.
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

    /// Waits until a descriptor that another process has made non-blocking accepts bytes.
    private func awaitRoom() {
        var poll = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
        Glibc.poll(&poll, 1, -1)
    }
}
