import Foundation
import Glibc

/// A file that appears under its name when it is whole, and not before.
final class LocalFile: Sendable {
    private let path: String
    private let part: String
    let stream: OutputDescriptor

    /// - Throws: where it cannot be made: no such folder, no permission.
    init(replacing path: String) throws(ClientError) {
        self.path = path
        part = "\(path).\(getpid()).part"
        let descriptor = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw .unwritable(Printable(path).description, String(cString: strerror(errno))) }
        stream = OutputDescriptor(number: descriptor)
    }

    deinit { close(stream.number) }

    func commit() throws(ClientError) {
        guard rename(part, path) == 0 else {
            throw .unwritable(Printable(path).description, String(cString: strerror(errno)))
        }
    }

    func discard() { unlink(part) }

    /// The path itself, or the name in it where it is a folder.
    static func destination(_ path: String, name: String) -> String {
        var isFolder: ObjCBool = false
        let isThere = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        guard path.hasSuffix("/") || (isThere && isFolder.boolValue) else { return path }
        // The service has made the name safe for its own folder; here it must not lead out of this one either.
        let safe = name.replacing("/", with: "_")
        let file = safe.isEmpty || safe == "." || safe == ".." ? "download" : safe
        if path == "." { return file }
        return path.hasSuffix("/") ? path + file : "\(path)/\(file)"
    }
}
