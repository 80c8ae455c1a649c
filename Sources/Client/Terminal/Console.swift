import Glibc

/// Where a command writes: data on standard output, everything else on standard error, so that a script can have the one
/// without the other. Data that cannot be written end the command; a message that cannot be written is lost, and nothing
/// more.
struct Console: Sendable {
    let out = OutputDescriptor.standardOutput
    private let err = OutputDescriptor.standardError
    let outTerminal = Terminal(.standardOutput)
    let errTerminal = Terminal(.standardError)
    /// Data are JSON.
    let isJSON: Bool

    init(isJSON: Bool) {
        self.isJSON = isJSON
        signal(SIGPIPE, SIG_IGN)
    }

    /// One document, on one line.
    func print(_ document: JSONText) throws(ClientError) {
        try out.write(document.bytes + [UInt8(ascii: "\n")])
    }

    func print(_ line: String) throws(ClientError) {
        try out.writeLine(outTerminal.printable(line))
    }

    /// A table that fits a terminal, and is whole elsewhere.
    func print(_ table: Table) throws(ClientError) {
        let width = outTerminal.isInteractive ? outTerminal.size.columns : nil
        try out.write(table.lines(on: outTerminal, width: width).map { $0 + "\n" }.joined())
    }

    /// A message beside the data.
    func say(_ line: String) { draw(errTerminal.printable(line) + "\n") }

    /// What moves the cursor, and is fit for the terminal already.
    func draw(_ text: String) { try? err.write(text) }

    /// What somebody should know although the command goes on: for programs a problem document.
    func warn(_ title: String, _ sentence: String) {
        isJSON ? put(ProblemDocument(title: title, detail: sentence).bytes) : say(sentence)
    }

    /// Why the command ends.
    func report(_ error: ClientError) {
        isJSON ? put(error.document) : say("Error: \(error.sentence)")
    }

    /// A document on one line, beside the data.
    private func put(_ document: [UInt8]) {
        try? err.write(document.filter { $0 != UInt8(ascii: "\n") } + [UInt8(ascii: "\n")])
    }
}
