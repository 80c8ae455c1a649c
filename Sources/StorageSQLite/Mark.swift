import Base
import Glibc
import Storage

/// What the data folder records about its database outside of the database. A lost database or log can't report its own
/// loss.
///
/// The file has two lines of 64 bytes, each with a checksum. The first line changes when the service starts and stops.
/// The second changes with every commit, after the commit is durable.
struct Mark: Sendable, Equatable {
    enum State: String, Sendable {
        /// The database is about to be created: it may be missing or empty.
        case initialising
        /// The service is running, or ended without closing the database.
        case running
        /// The service has closed the database: the log is copied into the file.
        case clean
        /// A copy is about to replace the database.
        case restoring
    }

    /// How far the database had progressed.
    struct Position: Sendable, Equatable {
        var commits: Int64 = 0
        var lastEvent: Int64 = 0
    }

    var state: State
    /// `history.identity` of the database; `-` before the database has one.
    var identity = "-"
    var position = Position()

    static let lineLength = 64

    /// The same mark for a closed database.
    var closed: Mark { Mark(state: .clean, identity: identity, position: position) }

    var bytes: [UInt8] { Self.line("fetchd 1 \(state.rawValue) \(identity)") + Self.line(position) }

    static func line(_ position: Position) -> [UInt8] {
        line("commits \(position.commits) events \(position.lastEvent)")
    }

    /// nil when the bytes are not a mark.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == 2 * Self.lineLength,
            let first = Self.words(of: bytes[..<Self.lineLength]),
            let second = Self.words(of: bytes[Self.lineLength...]),
            first.count == 4, first[0] == "fetchd", first[1] == "1", let state = State(rawValue: first[2]),
            second.count == 4, second[0] == "commits", let commits = Int64(second[1]), second[2] == "events",
            let lastEvent = Int64(second[3])
        else { return nil }
        self.init(
            state: state, identity: first[3], position: Position(commits: commits, lastEvent: lastEvent))
    }

    init(state: State, identity: String = "-", position: Position = Position()) {
        self.state = state
        self.identity = identity
        self.position = position
    }

    private static let textLength = lineLength - 10

    /// The text, blanks, the checksum in eight digits, and the end of the line.
    private static func line(_ text: String) -> [UInt8] {
        var line = Array(text.utf8)
        precondition(line.count <= textLength, "a line of the mark is too long: \(text)")
        line += [UInt8](repeating: UInt8(ascii: " "), count: textLength - line.count)
        return line + [UInt8(ascii: " ")] + digits(of: checksum(line)) + [UInt8(ascii: "\n")]
    }

    private static func words(of line: ArraySlice<UInt8>) -> [String]? {
        let text = line.prefix(textLength)
        guard Array(line.dropFirst(textLength + 1).dropLast()) == digits(of: checksum(text)) else { return nil }
        return String(decoding: text, as: UTF8.self).split(separator: " ").map(String.init)
    }

    /// FNV-1a with 32 bits, which is enough to detect damage.
    private static func checksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
        bytes.reduce(0x811C_9DC5) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
    }

    private static func digits(of number: UInt32) -> [UInt8] {
        let hexadecimal = Array("0123456789abcdef".utf8)
        return (0..<8).map { hexadecimal[Int(number >> (28 - 4 * UInt32($0)) & 15)] }
    }
}

/// The file of the mark.
final class MarkFile: Sendable {
    private struct State {
        var descriptor: Int32
        var mark: Mark
    }

    private let state: Locked<State>

    /// - Returns: nil when the folder has no mark: the folder is new.
    /// - Throws: `markUnreadable`.
    static func open(in folder: DataFolder) throws(StoreError) -> MarkFile? {
        let descriptor = Glibc.open(folder.mark, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        if descriptor < 0 {
            if errno == ENOENT { return nil }
            throw .folder(folder.path, errno)
        }
        guard let mark = mark(in: descriptor) else {
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
            if let mark = mark(in: descriptor) { return mark }
        }
        throw .markUnreadable(path: path)
    }

    private static func mark(in descriptor: Int32) -> Mark? {
        var bytes = [UInt8](repeating: 0, count: 2 * Mark.lineLength + 1)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return count < 0 ? nil : Mark(Array(bytes.prefix(count)))
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

extension DataFiles {
    /// Refuses a database that lacks committed data, or that is of a newer version or one before 0.2.0.
    ///
    /// - Parameter mark: was read before the database, so the database has at least its commits.
    func requireComplete(_ db: SQLConnection, _ mark: Mark?) throws {
        try Schema.requireKnown(db.sqlite, path: database)
        let history = try History.read(db)
        guard let mark, mark.state == .running || mark.state == .clean else { return }
        var status = stat()
        let logSize = stat(log, &status) == 0 ? Int64(status.st_size) : 0
        guard let loss = StartupCheck.loss(of: history, comparedWith: mark, logSize: logSize) else { return }
        throw StoreError.databaseIncomplete(path: database, loss)
    }
}
