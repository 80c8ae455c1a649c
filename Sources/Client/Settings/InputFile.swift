import Glibc

/// A file that a command line names, or standard input where it says `-`.
enum InputFile {
    static func bytes(of file: String) throws(ClientError) -> [UInt8] {
        guard file != "-" else { return try bytes(of: STDIN_FILENO, named: "Standard input") }
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(Printable(file).description) }
        defer { close(descriptor) }
        return try bytes(of: descriptor, named: Printable(file).description)
    }

    /// To its end.
    private static func bytes(of descriptor: Int32, named name: String) throws(ClientError) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count == 0 { return bytes }
            if count > 0 { bytes += buffer[..<count] } else if errno != EINTR { throw unreadable(name) }
        }
    }

    /// In the system's words, which are the same for every program.
    private static func unreadable(_ name: String) -> ClientError {
        .unreadable(name, String(cString: strerror(errno)))
    }
}

/// Secrets come from files, as command lines can be read by others.
enum SecretFile {
    /// Without the end of its line.
    static func line(of file: String) throws(ClientError) -> String {
        String(String(decoding: try InputFile.bytes(of: file), as: UTF8.self).prefix { !$0.isNewline })
    }
}
