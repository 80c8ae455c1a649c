import Formats
import Foundation

/// The absolute form of a path, for messages and for clients.
public enum AbsolutePath {
    /// The path that the kernel opens.
    ///
    /// - Parameter path: relative to the working directory, or absolute. `~` is a name like any other.
    public static func of(_ path: String) -> String {
        let whole = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        let components = PathComponents.split(whole).filter { $0 != "." }
        // After a link, `..` leads elsewhere than the text says.
        if components.contains(".."), let resolved = realpath(whole, nil) {
            defer { free(resolved) }
            return String(cString: resolved)
        }
        return "/" + components.joined(separator: "/")
    }
}
