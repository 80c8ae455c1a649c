import Base
import Foundation
import Glibc
import Sealing

/// The lists of imports in the data folder. Each is a file of sealed pieces that only the user of the service can read, because the
/// URLs and headers of a list can be secret.
///
/// A file begins with a line that names the key. Each piece has its length in four bytes, and its number is sealed with it. The last
/// piece is empty, and is sealed as the last one, so a list that was cut is recognized.
extension Store {
    /// Creates the file of a list.
    ///
    /// - Parameter header: what the import must know to continue after a crash: the first piece.
    public func stageList(_ id: ImportID, header: [UInt8]) async throws(StoreError) -> StagedList {
        let (path, keys) = (folder.files.list(id), sealer.keys)
        let list = try await onListThread { [listThread] () throws(StoreError) in
            try StagedList(id, thread: listThread, file: SealedListFile(creating: path, id, keys))
        }
        try await list.append(header)
        return list
    }

    /// The imports that have a list in the data folder.
    public func stagedLists() throws(StoreError) -> [ImportID] {
        try folder.fileNames().filter { $0.hasPrefix(DataFiles.listPrefix) }
            .compactMap { ImportID($0.dropFirst(DataFiles.listPrefix.count)) }
    }

    /// Reads a complete list from its beginning.
    public func readList(_ id: ImportID) async throws(StoreError) -> ListPieces {
        let (path, keys) = (folder.files.list(id), sealer.keys)
        return try await onListThread { [listThread] () throws(StoreError) in
            ListPieces(thread: listThread, file: try SealedListFile(opening: path, id, keys))
        }
    }

    public func removeList(_ id: ImportID) async {
        let path = folder.files.list(id)
        await listThread.run { _ = unlink(path) }
    }

    private func onListThread<Value: Sendable>(
        _ body: @escaping @Sendable () throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        try await listThread.run { Result(catching: body) }.get()
    }
}

/// A list that is being received.
public final class StagedList: Sendable {
    public let id: ImportID
    private let thread: ReaderThreads
    private let file: Locked<SealedListFile>

    fileprivate init(_ id: ImportID, thread: ReaderThreads, file: SealedListFile) {
        (self.id, self.thread, self.file) = (id, thread, Locked(file))
    }

    public func append(_ piece: [UInt8]) async throws(StoreError) {
        guard !piece.isEmpty else { return }
        try await run { file throws(StoreError) in try file.append(piece, isLast: false) }
    }

    /// Marks the list as complete. When it returns, the list is on the disk.
    public func finish() async throws(StoreError) {
        try await run { file throws(StoreError) in
            try file.append([], isLast: true)
            try file.sync()
        }
    }

    private func run(_ body: @escaping @Sendable (inout SealedListFile) throws(StoreError) -> Void)
        async throws(StoreError)
    {
        try await thread.run { [file] in
            Result { () throws(StoreError) in try file.withLock { file throws(StoreError) in try body(&file) } }
        }.get()
    }
}

/// The pieces of a complete list, in their order.
public final class ListPieces: Sendable {
    private let thread: ReaderThreads
    private let file: Locked<SealedListFile>

    fileprivate init(thread: ReaderThreads, file: SealedListFile) { (self.thread, self.file) = (thread, Locked(file)) }

    /// The next piece; nil after the last one.
    ///
    /// - Throws: `sealBroken` if the list is not as it was written, not complete, or if its key is lost.
    public func next() async throws(StoreError) -> [UInt8]? {
        try await thread.run { [file] in
            Result { () throws(StoreError) in try file.withLock { file throws(StoreError) in try file.next() } }
        }.get()
    }
}

private struct SealedListFile: Sendable {
    private let id: ImportID
    private let path: String
    private let keys: Keyring
    private let key: String
    private let descriptor: Descriptor
    private var pieces = 0

    init(creating path: String, _ id: ImportID, _ keys: Keyring) throws(StoreError) {
        (self.id, self.path, self.keys, key) = (id, path, keys, keys.current.id)
        descriptor = try Self.open(path, O_WRONLY | O_CREAT | O_EXCL)
        try write(Array((Self.title + key + "\n").utf8))
    }

    init(opening path: String, _ id: ImportID, _ keys: Keyring) throws(StoreError) {
        (self.id, self.path, self.keys) = (id, path, keys)
        descriptor = try Self.open(path, O_RDONLY)
        let length = Self.title.utf8.count + 17
        let line = String(decoding: try Self.read(length, from: descriptor), as: UTF8.self)
        guard line.utf8.count == length, line.hasPrefix(Self.title), line.hasSuffix("\n") else {
            throw .sealBroken(place: "list of \(id)")
        }
        key = String(line.dropFirst(Self.title.count).dropLast())
    }

    mutating func append(_ piece: [UInt8], isLast: Bool) throws(StoreError) {
        let box = keys.seal(piece, at: place(isLast: isLast))
        pieces += 1
        try write((0..<4).map { UInt8(truncatingIfNeeded: box.count >> (8 * (3 - $0))) } + box)
    }

    mutating func next() throws(StoreError) -> [UInt8]? {
        let length = try Self.read(4, from: descriptor).reduce(0) { $0 << 8 | Int($1) }
        guard (1...Self.largestPiece).contains(length) else { throw broken }
        let box = try Self.read(length, from: descriptor)
        if let piece = keys.open(box, of: key, at: place(isLast: false)) {
            pieces += 1
            return piece
        }
        guard keys.open(box, of: key, at: place(isLast: true)) != nil else { throw broken }
        return nil
    }

    func sync() throws(StoreError) {
        guard fsync(descriptor.number) == 0 else { throw Self.failure(errno) }
        let fault = FolderPath.sync(FolderPath.parent(of: path))
        guard fault == 0 else { throw Self.failure(fault) }
    }

    private var broken: StoreError { .sealBroken(place: "list of \(id), piece \(pieces)") }

    private func place(isLast: Bool) -> SealContext {
        SealContext(table: "list", column: isLast ? "end" : "piece", row: "\(id) \(pieces)")
    }

    private func write(_ bytes: [UInt8]) throws(StoreError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor.number, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Self.failure(errno) }
            rest = rest.dropFirst(count)
        }
    }

    /// As many bytes as the file still has, up to `count`.
    private static func read(_ count: Int, from descriptor: Descriptor) throws(StoreError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var length = 0
        while length < count {
            let more = bytes.withUnsafeMutableBytes {
                Glibc.read(descriptor.number, $0.baseAddress.map { $0 + length }, count - length)
            }
            if more < 0, errno == EINTR { continue }
            guard more >= 0 else { throw failure(errno) }
            if more == 0 { break }
            length += more
        }
        return Array(bytes.prefix(length))
    }

    private static func open(_ path: String, _ flags: Int32) throws(StoreError) -> Descriptor {
        guard let descriptor = Descriptor(result: Glibc.open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0o600)) else {
            throw failure(errno)
        }
        return descriptor
    }

    private static func failure(_ code: Int32) -> StoreError {
        [ENOSPC, EDQUOT].contains(code)
            ? .outOfSpace : .diskFailed(why: "the list of an import: \(String(cString: strerror(code)))")
    }

    private static let title = "fetchd list 1 "
    private static let largestPiece = 4 << 20
}
