import Glibc

/// A file that the command line names; `-` is standard input.
enum InputFile {
    static func bytes(of file: String) throws(ClientError) -> [UInt8] {
        guard file != "-" else { return try bytes(of: STDIN_FILENO, named: "Standard input") }
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(Printable(file).description) }
        defer { close(descriptor) }
        return try bytes(of: descriptor, named: Printable(file).description)
    }

    /// Reads the descriptor to its end.
    private static func bytes(of descriptor: Int32, named name: String) throws(ClientError) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count == 0 { return bytes }
            if count > 0 { bytes += buffer[..<count] } else if errno != EINTR { throw unreadable(name) }
        }
    }

    /// The error with the text of the system.
    private static func unreadable(_ name: String) -> ClientError {
        .unreadable(name, String(cString: strerror(errno)))
    }
}
