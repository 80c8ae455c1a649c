import Formats
import Glibc

/// The output of a command: data on standard output, messages on standard error, so that a script can separate them. If data
/// cannot be written, the command ends. If a message cannot be written, only the message is lost.
struct Console: Sendable {
    let out = OutputDescriptor.standardOutput
    private let err = OutputDescriptor.standardError
    let outTerminal = Terminal(.standardOutput)
    let errTerminal = Terminal(.standardError)
    let isJSON: Bool

    init(isJSON: Bool) {
        self.isJSON = isJSON
        signal(SIGPIPE, SIG_IGN)
    }

    func print(_ document: JSON) throws(ClientError) { try out.write(document.bytes + [UInt8(ascii: "\n")]) }

    func print(_ line: String) throws(ClientError) { try out.writeLine(outTerminal.printable(line)) }

    /// Prints a table. On a terminal it is cut to the width; elsewhere it is complete.
    func print<Row>(_ table: Table<Row>) throws(ClientError) {
        let width = outTerminal.isInteractive ? outTerminal.size.columns : nil
        try out.write(table.lines(on: outTerminal, width: width).map { $0 + "\n" }.joined())
    }

    func say(_ line: String) { draw(errTerminal.printable(line) + "\n") }

    /// Writes text with control sequences to standard error. The text must be safe for the terminal.
    func draw(_ text: String) { try? err.write(text) }

    /// Reports a problem while the command continues. With `--json`, it is a problem document.
    func warn(_ title: String, _ sentence: String) {
        isJSON ? put(ProblemDocument(title: title, detail: sentence).bytes) : say(sentence)
    }

    func report(_ error: ClientError) { isJSON ? put(error.document) : say("Error: \(error.sentence)") }

    private func put(_ document: [UInt8]) {
        try? err.write(document.filter { $0 != UInt8(ascii: "\n") } + [UInt8(ascii: "\n")])
    }
}

struct OutputDescriptor: Sendable {
    let number: Int32
    let name: String

    static let standardOutput = OutputDescriptor(number: STDOUT_FILENO, name: "Standard output")
    static let standardError = OutputDescriptor(number: STDERR_FILENO, name: "Standard error")

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
