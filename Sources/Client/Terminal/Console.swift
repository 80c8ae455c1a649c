import Glibc

/// Where a command writes: data on standard output, everything else on standard error, so that a script can have the one
/// without the other.
struct Console: Sendable {
    let out = OutputDescriptor.standardOutput
    let err = OutputDescriptor.standardError
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
        try out.write(Array(document.bytes) + [UInt8(ascii: "\n")])
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
    func say(_ line: String) throws(ClientError) {
        try err.writeLine(errTerminal.printable(line))
    }

    /// Why the command ends.
    func report(_ error: ClientError) {
        if isJSON {
            try? err.write(error.document.filter { $0 != UInt8(ascii: "\n") } + [UInt8(ascii: "\n")])
        } else {
            try? say("Error: \(error.sentence)")
        }
    }
}
