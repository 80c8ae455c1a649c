import Foundation

/// A file that a command line names, or standard input where it says `-`.
enum InputFile {
    static func bytes(of file: String) throws(ClientError) -> [UInt8] {
        do {
            let handle = try file == "-" ? .standardInput : FileHandle(forReadingFrom: URL(filePath: file))
            return Array(try handle.readToEnd() ?? Data())
        } catch {
            throw .unreadable(file == "-" ? "Standard input" : Printable(file).description, error.localizedDescription)
        }
    }
}

/// Secrets come from files, as command lines can be read by others.
enum SecretFile {
    /// Without the end of its line.
    static func line(of file: String) throws(ClientError) -> String {
        String(String(decoding: try InputFile.bytes(of: file), as: UTF8.self).prefix { !$0.isNewline })
    }
}
