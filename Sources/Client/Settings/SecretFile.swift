import Glibc

/// A file with a secret. Secrets are read from files, because other users can read command lines.
enum SecretFile {
    /// The first line, without its line break.
    static func line(of file: String) throws(ClientError) -> String {
        String(String(decoding: try InputFile.bytes(of: file), as: UTF8.self).prefix { !$0.isNewline })
    }
}
