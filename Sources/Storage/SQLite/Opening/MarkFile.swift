import Glibc
import Locks

/// The file of the mark.
final class MarkFile: Sendable {
    private struct State {
        var descriptor: Int32
        var mark: Mark
    }

    private let state: Locked<State>

    /// - Returns: nil when the folder has no mark: the folder is new, or of a version before 0.2.
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

    /// The mark in a file that a running service may be changing.
    ///
    /// - Returns: nil when there is no such file.
    /// - Throws: `markUnreadable`.
    static func read(_ path: String) throws(StoreError) -> Mark? {
        // A reader can see one line of a write that is under way.
        for _ in 0..<5 {
            let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
            if descriptor < 0, errno == ENOENT { return nil }
            guard descriptor >= 0 else { throw .folder(path, errno) }
            defer { close(descriptor) }
            var bytes = [UInt8](repeating: 0, count: 2 * Mark.lineLength + 1)
            let count = pread(descriptor, &bytes, bytes.count, 0)
            if count >= 0, let mark = Mark(Array(bytes.prefix(count))) { return mark }
        }
        throw .markUnreadable(path: path)
    }

    /// Creates the file atomically and durably.
    static func make(_ mark: Mark, in folder: DataFolder) throws(StoreError) -> MarkFile {
        MarkFile(try draft(mark, in: folder), mark)
    }

    /// - Returns: the descriptor of the new file, which has replaced the old one.
    private static func draft(_ mark: Mark, in folder: DataFolder) throws(StoreError) -> Int32 {
        let draft = folder.mark + ".new"
        let descriptor = Glibc.open(draft, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .folder(folder.path, errno) }
        guard write(mark, to: descriptor), rename(draft, folder.mark) == 0 else {
            let code = errno
            close(descriptor)
            throw .folder(folder.path, code)
        }
        do {
            try folder.sync()
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    private static func write(_ mark: Mark, to descriptor: Int32) -> Bool {
        let bytes = mark.bytes
        return pwrite(descriptor, bytes, bytes.count, 0) == bytes.count && fsync(descriptor) == 0
    }

    private init(_ descriptor: Int32, _ mark: Mark) { state = Locked(State(descriptor: descriptor, mark: mark)) }

    deinit { close(state.withLock { $0.descriptor }) }

    var mark: Mark { state.withLock { $0.mark } }

    /// Writes another mark durably. The mark lies within one sector, so it can be overwritten in place. If a sync
    /// fails, the kernel may have dropped an earlier write to this file, so later syncs of the file prove nothing. In
    /// that case a new file replaces it.
    func set(_ mark: Mark, in folder: DataFolder) throws(StoreError) {
        try state.withLock { state throws(StoreError) in
            if !Self.write(mark, to: state.descriptor) {
                let descriptor = try Self.draft(mark, in: folder)
                close(state.descriptor)
                state.descriptor = descriptor
            }
            state.mark = mark
        }
    }

    /// Records how far the database has progressed, without a sync. After a power loss or a failed write the mark may
    /// be older than the database.
    func note(_ position: Mark.Position) {
        let line = Mark.line(position)
        state.withLock { state in
            state.mark.position = position
            _ = pwrite(state.descriptor, line, line.count, off_t(Mark.lineLength))
        }
    }
}
