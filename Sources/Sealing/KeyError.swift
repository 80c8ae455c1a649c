import Glibc

/// A key cannot be read or written. The description is a sentence.
public struct KeyError: Error, Sendable, Equatable, CustomStringConvertible {
    public let description: String
    init(_ description: String) { self.description = description }

    /// The error of a system call on a file.
    static func file(_ path: String, _ code: Int32) -> KeyError {
        KeyError("The key file \(path) cannot be used: \(String(cString: strerror(code))).")
    }
}
