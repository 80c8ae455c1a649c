import Foundation

/// A test's own folder, removed with the last reference to it.
public final class TemporaryFolder: Sendable {
    public let path: String

    /// - Parameter parent: `/dev/shm` is on another file system than the default.
    public init(in parent: String? = nil) throws {
        TestTimes.noteBeginning()
        let parent = parent.map { URL(filePath: $0) } ?? FileManager.default.temporaryDirectory
        path = parent.appending(path: "fetchd-test-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path for a name, whether it exists or not; `/` separates components.
    public func path(_ name: String) -> String { "\(path)/\(name)" }

    /// nil if there is no such file.
    public func bytes(of name: String) -> [UInt8]? {
        FileManager.default.contents(atPath: path(name)).map { [UInt8]($0) }
    }

    /// Creates missing folders.
    @discardableResult
    public func write(_ text: String, to name: String) throws -> String {
        let file = URL(filePath: path(name))
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
        return path(name)
    }

    /// Every file at any depth: relative paths, sorted. Folders are not listed, nor the lock of a downloads folder.
    public var files: [String] {
        let all = (try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []
        return all.filter { !$0.hasSuffix(".incomplete/lock") }.filter { name in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: path(name), isDirectory: &isFolder) && !isFolder.boolValue
        }.sorted()
    }
}
