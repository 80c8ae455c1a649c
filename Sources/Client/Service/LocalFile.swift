import Foundation
import Glibc

/// A file that appears under its name when it is whole, and not before. What is there already and is no file (a device, a
/// pipe, a descriptor of this process) cannot be replaced, and is written into.
final class LocalFile: Sendable {
    let stream: OutputDescriptor
    /// Whoever reads a descriptor of this process wants the file and nothing else.
    let isDescriptor: Bool
    /// What becomes of the bytes in the end; nil where they are in their place from the beginning.
    private let renaming: (part: String, path: String)?

    /// - Throws: where it cannot be made: no such folder, no permission.
    init(replacing path: String) throws(ClientError) {
        let name = Printable(path).description
        let descriptor: Int32
        let target = Target(path)
        if case .descriptor = target { isDescriptor = true } else { isDescriptor = false }
        switch target {
        case .descriptor(let number):
            descriptor = fcntl(number, F_DUPFD_CLOEXEC, 0)
            renaming = nil
        case .special(let path):
            descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY)
            renaming = nil
        case .file(let path):
            let part = "\(path).\(getpid()).part"
            descriptor = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
            renaming = (part, path)
        }
        guard descriptor >= 0 else { throw .unwritable(name, String(cString: strerror(errno))) }
        stream = OutputDescriptor(number: descriptor, name: name)
    }

    deinit { close(stream.number) }

    func commit() throws(ClientError) {
        guard let renaming, rename(renaming.part, renaming.path) != 0 else { return }
        throw .unwritable(stream.name, String(cString: strerror(errno)))
    }

    func discard() {
        if let renaming { unlink(renaming.part) }
    }
}

// MARK: - Where it goes

extension LocalFile {
    /// What a path leads to, behind all symbolic links.
    private enum Target {
        /// A regular file, or nothing yet.
        case file(String)
        /// Something else that is there.
        case special(String)
        /// Of this process: `/dev/stdout`, `/dev/fd/3`. To open it again would be to begin at its start.
        case descriptor(Int32)

        init(_ path: String) {
            var path = path
            // As many as the kernel follows (path_resolution(7)); it refuses the rest itself, when the file is opened.
            for _ in 0..<40 {
                guard let link = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else { break }
                let folder = LocalFile.folder(of: path)
                if let number = Self.descriptor(path, in: folder) {
                    self = .descriptor(number)
                    return
                }
                path = link.hasPrefix("/") ? link : "\(folder)/\(link)"
            }
            var status = stat()
            let isSpecial = stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
            self = isSpecial ? .special(path) : .file(path)
        }

        private static func descriptor(_ path: String, in folder: String) -> Int32? {
            guard let real = realpath(folder, nil) else { return nil }
            defer { free(real) }
            guard String(cString: real) == "/proc/\(getpid())/fd" else { return nil }
            return path.split(separator: "/").last.flatMap { Int32($0) }
        }
    }

    /// Before anything is downloaded: whether a file can be put there.
    ///
    /// - Parameter path: as for `destination`.
    static func requireRoom(at path: String) throws(ClientError) {
        let isThere =
            switch Target(destination(path, name: "name")) {
            case .descriptor: true
            case .special(let path): access(path, W_OK) == 0
            // The dot demands a folder.
            case .file(let path): access(folder(of: path) + "/.", W_OK | X_OK) == 0
            }
        guard isThere else { throw .unwritable(Printable(path).description, String(cString: strerror(errno))) }
    }

    static func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }

    /// The path itself, or the name in it where it is a folder.
    static func destination(_ path: String, name: String) -> String {
        guard path.hasSuffix("/") || isFolder(path) else { return path }
        // The service has made the name safe for its own folder; here it must not lead out of this one either.
        let safe = name.replacing("/", with: "_")
        let file = safe.isEmpty || safe == "." || safe == ".." ? "download" : safe
        if path == "." { return file }
        return path.hasSuffix("/") ? path + file : "\(path)/\(file)"
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
