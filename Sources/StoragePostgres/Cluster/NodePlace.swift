import Downloads
import Formats
import Foundation
import Glibc
import Storage

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

extension DataFiles {
    var node: String { path + "/node" }
}

/// Where the process of a node runs, as the row of the node has it.
struct NodePlace: Sendable, Equatable {
    /// Identifies the lock on the data folder: the start of the kernel, and the file. Only one process at a time has the lock, and a
    /// copy of the folder has another one. nil: it is not known.
    var lock: String?
    /// The name of the machine, and the path of the data folder there, for people.
    var machine: String?
    var folder: String?

    /// Whether the process that has the lock of this place knows that no other process of this place runs.
    func isSame(as other: NodePlace) -> Bool { lock != nil && lock == other.lock }

    /// Such as `in /var/lib/fetchd/data on web1`.
    var text: String {
        let known = [folder, machine].compactMap(\.self)
        return known.isEmpty ? "elsewhere" : "in " + known.joined(separator: " on ")
    }
}

extension NodePlace {
    /// - Parameter folder: this process has its lock.
    init(of folder: DataFolder) {
        let boot = SystemTime().boot
        lock = boot.flatMap { boot in folder.lockFile.map { "\(boot) \($0)" } }
        machine = Self.hostName
        self.folder = folder.absolutePath
    }

    private static var hostName: String? {
        var name = utsname()
        guard uname(&name) == 0 else { return nil }
        return withUnsafeBytes(of: &name.nodename) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

/// The process that has the row of a node when another process of this node starts elsewhere: in a copy of the data folder, or after the
/// folder was moved.
///
/// If that process lives, it renews its lease, and the new one is refused. Otherwise both would replace each other for ever. If it does
/// not live, its lease ends.
struct FormerProcess: Sendable, Equatable {
    var epoch: Int64
    /// The end of its lease, by the clock of the server, in milliseconds.
    var expiresAt: Int64
    var place: NodePlace
    /// Where its API is, if it has said so.
    var url: String?

    enum Verdict: Equatable { case undecided, lives, hasEnded }

    /// - Parameters:
    ///   - present: what the row has now. Its lease has not ended by the clock of the server.
    ///   - watched: for how long this value was known.
    func verdict(on present: FormerProcess, watched: Duration) -> Verdict {
        if present.epoch != epoch || present.expiresAt != expiresAt { return .lives }
        // The clock of the server was set back, so the lease would end later.
        return watched >= .milliseconds(ServerTime.longestRest) ? .hasEnded : .undecided
    }

    /// - Parameter place: of the process that is refused.
    func refusal(at place: NodePlace) -> StoreError {
        let address = url.map { ", at \($0)" } ?? ""
        return .folderUnusable(
            path: place.folder ?? "",
            why:
                "it is a copy of the data folder of a node that runs \(self.place.text)\(address): both have the same file 'node'. If this service shall be another node, remove the file 'node' from the copy, and begin with an empty downloads folder. If the folder was moved, stop the other service first"
        )
    }
}
