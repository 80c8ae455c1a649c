import Foundation

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
