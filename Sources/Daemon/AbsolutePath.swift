import Foundation

/// The absolute form of a path.
enum AbsolutePath {
    /// - Parameter path: relative to the working directory, or absolute.
    static func of(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }
}
