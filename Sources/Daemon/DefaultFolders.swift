import Foundation
import Glibc

/// The folders of a service whose settings do not name them. They do not depend on the working directory, except for the
/// folders that earlier versions used.
public struct DefaultFolders: Sendable, Equatable {
    public var data: String
    public var downloads: String
    /// Whether these are the folders that earlier versions used: `data` and `downloads` in the working directory.
    public var areOfWorkingDirectory: Bool

    /// - Parameters:
    ///   - workingDirectory: nil if it has no `data/fetchd.sqlite`.
    ///   - userDirectories: the text of `user-dirs.dirs` of xdg-user-dirs; nil without this file.
    public init(
        isRoot: Bool, home: String, environment: [String: String], workingDirectory: String?, userDirectories: String?
    ) {
        areOfWorkingDirectory = workingDirectory != nil
        // systemd sets STATE_DIRECTORY for a unit with StateDirectory= (systemd.exec(5)).
        let state = environment["STATE_DIRECTORY"]?.split(separator: ":").first.map(String.init)
        if let common = workingDirectory ?? state ?? (isRoot ? "/var/lib/fetchd" : nil) {
            (data, downloads) = (common + "/data", common + "/downloads")
        } else {
            let shared = Self.absolute(environment["XDG_DATA_HOME"]) ?? home + "/.local/share"
            let personal = userDirectories.flatMap { Self.downloads(in: $0, home: home) } ?? home + "/Downloads"
            (data, downloads) = (shared + "/fetchd", personal + "/fetchd")
        }
    }

    /// Relative paths are ignored (XDG Base Directory Specification 0.8).
    private static func absolute(_ path: String?) -> String? { path.flatMap { $0.hasPrefix("/") ? $0 : nil } }

    /// The value of `XDG_DOWNLOAD_DIR="$HOME/..."` or `="/..."` (user-dirs.dirs(5)).
    private static func downloads(in text: String, home: String) -> String? {
        let name = "XDG_DOWNLOAD_DIR=\""
        guard let line = text.split(separator: "\n").last(where: { $0.hasPrefix(name) }), line.hasSuffix("\"") else {
            return nil
        }
        let path = String(line.dropFirst(name.count).dropLast())
        return absolute(path.hasPrefix("$HOME/") ? home + path.dropFirst("$HOME".count) : path)
    }
}

extension DefaultFolders {
    /// The folders of this process.
    ///
    /// - Parameter usesWorkingDirectory: whether a database of an earlier version in `data` is used.
    public static func ofProcess(usesWorkingDirectory: Bool) -> DefaultFolders {
        let environment = ProcessInfo.processInfo.environment
        let home = FileManager.default.homeDirectoryForCurrentUser.path
        let configuration = absolute(environment["XDG_CONFIG_HOME"]) ?? home + "/.config"
        let present = FileManager.default.currentDirectoryPath
        let hasDatabase =
            usesWorkingDirectory && FileManager.default.fileExists(atPath: present + "/data/fetchd.sqlite")
        return DefaultFolders(
            isRoot: geteuid() == 0, home: home, environment: environment, workingDirectory: hasDatabase ? present : nil,
            userDirectories: try? String(contentsOfFile: configuration + "/user-dirs.dirs", encoding: .utf8))
    }
}
