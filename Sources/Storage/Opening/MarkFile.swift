import Glibc
import Locks

/// The file of the mark.
final class MarkFile: Sendable {
    private let descriptor: Int32
    private let content: Locked<Mark>

    /// - Returns: nil where there is none: the folder is new, or of a version before 0.2.
    /// - Throws: `markUnreadable`.
    static func open(in folder: DataFolder) throws(StoreError) -> MarkFile? {
        let descriptor = Glibc.open(folder.mark, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        if descriptor < 0 {
            if errno == ENOENT { return nil }
            throw .folder(folder.path, errno)
        }
        var bytes = [UInt8](repeating: 0, count: 2 * Mark.lineLength + 1)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count >= 0, let mark = Mark(Array(bytes.prefix(count))) else {
            close(descriptor)
            throw .markUnreadable(path: folder.mark)
        }
        return MarkFile(descriptor, mark)
    }

    /// Makes the file: whole and durable, or not at all.
    static func make(_ mark: Mark, in folder: DataFolder) throws(StoreError) -> MarkFile {
        let draft = folder.mark + ".new"
        let descriptor = Glibc.open(draft, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .folder(folder.path, errno) }
        let file = MarkFile(descriptor, mark)
        try file.set(mark, in: folder)
        guard rename(draft, folder.mark) == 0 else { throw .folder(folder.path, errno) }
        try folder.sync()
        return file
    }

    private init(_ descriptor: Int32, _ mark: Mark) {
        self.descriptor = descriptor
        content = Locked(mark)
    }

    deinit { close(descriptor) }

    var mark: Mark { content.withLock { $0 } }

    /// Writes another mark in the place of this one, durably. It lies within one sector, which is written or is not.
    func set(_ mark: Mark, in folder: DataFolder) throws(StoreError) {
        let bytes = mark.bytes
        guard pwrite(descriptor, bytes, bytes.count, 0) == bytes.count, fsync(descriptor) == 0 else {
            throw .folder(folder.path, errno)
        }
        content.withLock { $0 = mark }
    }

    /// Notes how far the database has come. It costs no sync: after a power loss the mark can be older than the database,
    /// and so it is where this fails.
    func note(_ position: Mark.Position) {
        content.withLock { $0.position = position }
        let line = Mark.line(position)
        _ = pwrite(descriptor, line, line.count, off_t(Mark.lineLength))
    }
}
