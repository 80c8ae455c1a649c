import Downloads
import Formats
import Foundation
import Glibc

/// The file `node` of a data folder: the identifier of the service in a database that several share. So a service that starts
/// again is the same node.
enum NodeFile {
    /// Reads the identifier, or makes a new one if there is no file. A service that cannot read its file must not
    /// become another node: it would not know its jobs and files any more.
    ///
    /// - Throws: `folderUnusable`, `outOfSpace`.
    static func identifier(in folder: DataFolder) throws(StoreError) -> String {
        guard let text = try text(in: folder) else { return try make(in: folder) }
        let identifier = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard ULID(identifier) != nil else {
            throw .folderUnusable(
                path: folder.path,
                why: "the file 'node' in it has no identifier. Restore it. Without it, the service becomes a new node")
        }
        return identifier
    }

    /// - Returns: nil if there is no file.
    private static func text(in folder: DataFolder) throws(StoreError) -> String? {
        let descriptor = open(folder.files.node, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            let code = errno
            var status = stat()
            // A link whose target is missing is no missing file.
            if code == ENOENT, lstat(folder.files.node, &status) != 0 { return nil }
            throw unreadable(folder, code)
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: longest)
        let count = read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw unreadable(folder, errno) }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    /// In bytes. An identifier has 26, and a line end.
    private static let longest = 64

    private static func unreadable(_ folder: DataFolder, _ code: Int32) -> StoreError {
        .folderUnusable(
            path: folder.path, why: "the file 'node' in it cannot be read: \(String(cString: strerror(code)))")
    }

    /// The file is complete or missing after a power loss.
    private static func make(in folder: DataFolder) throws(StoreError) -> String {
        var sequence = ULIDSequence()
        let identifier = sequence.next(at: Date()).description
        let draft = folder.files.node + ".new"
        do {
            try Data((identifier + "\n").utf8).write(to: URL(filePath: draft))
        } catch {
            throw .folderUnusable(path: folder.path, why: "the file 'node' in it cannot be written: \(error)")
        }
        try folder.sync(file: draft)
        try folder.rename(draft, to: folder.files.node)
        try folder.sync()
        return identifier
    }
}
