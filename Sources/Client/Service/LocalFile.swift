import Base
import Foundation
import Glibc

/// A file that gets its name when it is complete. A device, a pipe or a descriptor of this process cannot be replaced, so the
/// bytes are written to it directly.
final class LocalFile: Sendable {
    let stream: OutputDescriptor
    /// The file is written to a descriptor of this process. The command must then write nothing else to it.
    let isDescriptor: Bool
    /// The final rename; nil if the bytes are written to their destination directly.
    private let renaming: (part: String, path: String)?

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

    func discard() { if let renaming { unlink(renaming.part) } }
}

// MARK: - Destination

extension LocalFile {
    /// The target of a path, after all symbolic links.
    private enum Target {
        /// A regular file, or a path that does not exist yet.
        case file(String)
        /// A file that is not regular.
        case special(String)
        /// A descriptor of this process: `/dev/stdout`, `/dev/fd/3`. Opening it again would write from its start.
        case descriptor(Int32)

        init(_ path: String) {
            var path = path
            // The kernel follows at most 40 links (path_resolution(7)), and refuses to open a path with more.
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

    /// Checks, before any download, that a file can be saved at the path.
    static func requireWritable(at path: String) throws(ClientError) {
        let isThere =
            switch Target(destination(path, name: "name")) {
            case .descriptor: true
            case .special(let path): access(path, W_OK) == 0
            // With the dot, the check fails unless this is a folder.
            case .file(let path): access(folder(of: path) + "/.", W_OK | X_OK) == 0
            }
        guard isThere else { throw .unwritable(Printable(path).description, String(cString: strerror(errno))) }
    }

    static func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }

    /// The path, with the name appended if it is a folder.
    static func destination(_ path: String, name: String) -> String {
        guard path.hasSuffix("/") || isFolder(path) else { return path }
        // The name must not lead out of the folder.
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

/// A file that the command line names; `-` is standard input.
enum InputFile {
    /// A file that is read piece by piece; `-` is standard input.
    static func descriptor(of file: String) throws(ClientError) -> Descriptor {
        let opened =
            file == "-" ? Descriptor(duplicating: STDIN_FILENO) : Descriptor(result: open(file, O_RDONLY | O_CLOEXEC))
        guard let opened else { throw unreadable(file == "-" ? "Standard input" : Printable(file).description) }
        return opened
    }

    static func bytes(of file: String) throws(ClientError) -> [UInt8] {
        guard file != "-" else { return try bytes(of: STDIN_FILENO, named: "Standard input") }
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(Printable(file).description) }
        defer { close(descriptor) }
        return try bytes(of: descriptor, named: Printable(file).description)
    }

    /// The first line without its line break, such as a secret. Secrets are read from files, because other users can read
    /// command lines.
    static func firstLine(of file: String) throws(ClientError) -> String {
        String(String(decoding: try bytes(of: file), as: UTF8.self).prefix { !$0.isNewline })
    }

    private static func bytes(of descriptor: Int32, named name: String) throws(ClientError) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count == 0 { return bytes }
            if count > 0 { bytes += buffer[..<count] } else if errno != EINTR { throw unreadable(name) }
        }
    }

    private static func unreadable(_ name: String) -> ClientError {
        .unreadable(name, String(cString: strerror(errno)))
    }
}
