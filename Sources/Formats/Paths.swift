import Foundation

/// Splits paths by bytes, as the kernel does. In Swift, `/` with a combining mark after it is one character, which is not equal
/// to `/`. The kernel reads a separator there, so a rule based on characters would allow a path out of the folder.
public enum PathComponents {
    private static let separator = UInt8(ascii: "/")

    /// The nonempty components between separators.
    public static func split(_ path: String) -> [String] {
        path.utf8.split(separator: separator).map { String(Substring($0)) }
    }

    /// Everything before the last separator, and the name after it.
    public static func last(of path: String) -> (folder: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: separator) else { return ("", path) }
        let name = path.utf8[path.utf8.index(after: slash)...]
        return (String(Substring(path.utf8[..<slash])), String(Substring(name)))
    }

    /// Whether the name is one component, which cannot lead out of its folder.
    public static func isOne(_ name: String) -> Bool {
        !name.isEmpty && name != "." && name != ".." && !name.utf8.contains { $0 == separator || $0 == 0 }
    }
}

extension String {
    /// This path with the home folder in place of a leading `~`, as a shell expands it. Files and environment variables do not
    /// pass through a shell, and for the kernel `~` is the name of a folder.
    ///
    /// - Parameter home: the home folder; nil: `HOME`, or without it that of the user of this process.
    /// - Returns: nil for a path that begins in the home folder of another user (`~ada/files`).
    public func expandingHome(_ home: String? = nil) -> String? {
        guard utf8.first == UInt8(ascii: "~") else { return self }
        let rest = utf8.dropFirst()
        guard rest.isEmpty || rest.first == UInt8(ascii: "/") else { return nil }
        return (home ?? Self.home) + String(Substring(rest))
    }

    private static var home: String {
        let given = ProcessInfo.processInfo.environment["HOME"] ?? ""
        return given.hasPrefix("/") ? given : FileManager.default.homeDirectoryForCurrentUser.path
    }
}

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
