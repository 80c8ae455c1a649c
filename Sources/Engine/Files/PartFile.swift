import Base
import CLinux
import Downloads
import Foundation
import HTTPSemantics

/// The file of one part while an attempt writes to it. Its disk queue writes, hashes and syncs it, in order. Any thread can
/// read the counters.
///
/// A failed sync is never repeated: Linux drops the pages that it could not write, so a second sync would succeed
/// although bytes are missing. After the failure the file accepts no byte and no sync, and is never promoted. `durable`
/// keeps its value. An attempt that continues from these bytes does so in a copy (`DownloadsFolder.copyDurable`).
final class PartFile: Sendable {
    let id: PartID
    let diskQueue: DiskQueue
    private let folder: DownloadsFolder
    private let space: PartSpace
    private let writer = PartWriter()
    private let opening: @Sendable () throws(DiskError) -> Descriptor
    private let opened = Locked(Opened.not)
    /// Whether the next sync has to cover the permissions of the file, too.
    private let isPublished = Locked(false)
    private let syncing = Locked(())
    private let counters: Locked<Counters>
    private let beginning: Locked<Beginning>
    /// nil: all bytes stay on the disk.
    let staging: ObjectStaging?

    private enum Opened {
        case not
        case kept(Descriptor)
        /// The file is opened for each operation. Only the one with this status is the part.
        case closed(stat)
    }

    private struct Counters {
        /// Bytes that the system has accepted, without those of `run`.
        private var settled: ByteRanges
        /// The latest bytes, one after another. It is slow to add a range to a set.
        private var run: Range<Int64> = 0..<0
        private(set) var writtenEnd: Int64
        /// Bytes that are on disk.
        private(set) var durable: ByteRanges
        private(set) var isPending = false
        /// The number of failed syncs of the file system when the oldest byte that is not durable was written.
        var failuresBefore = 0
        /// Whether the file's entry in the folder is on disk.
        var isNameDurable: Bool
        /// Why the written bytes cannot be used: a sync or a read failed, or another program changed the file.
        var fault: DiskError?

        init(durable ranges: ByteRanges) {
            (settled, durable, writtenEnd) = (ranges, ranges, ranges.end)
            isNameDurable = !ranges.isEmpty
        }

        /// Bytes that the system has accepted.
        var written: ByteRanges { run.isEmpty ? settled : settled.union(ByteRanges(run)) }

        mutating func record(written bytes: Range<Int64>) {
            guard !bytes.isEmpty else { return }
            let follows = !run.isEmpty && run.upperBound == bytes.lowerBound
            if !follows { settled = written }
            run = (follows ? run.lowerBound : bytes.lowerBound)..<bytes.upperBound
            writtenEnd = max(writtenEnd, bytes.upperBound)
            isPending = isPending || written != durable
        }

        mutating func record(durable bytes: ByteRanges, after failures: Int) throws(DiskError) {
            if isPending, failuresBefore != failures {
                fault = fault ?? DiskError("sync the file system of the folder", code: EIO)
            }
            if let fault { throw fault }
            durable = durable.union(bytes)
            isPending = written != durable
        }
    }

    /// The digests of the first bytes, as long as they arrive in order.
    private struct Beginning {
        var digests: RunningDigests
        var count: Int64 = 0
    }

    /// Does not touch the disk, because the transfer loop calls it when it judges a response head.
    ///
    /// - Parameters:
    ///   - ranges: bytes that the file has already and that are durable.
    ///   - algorithms: digests that are computed while the bytes arrive.
    ///   - staging: sends the bytes to a bucket while others arrive; it computes the digests then.
    ///   - opening: opens the file; called once, in the disk queue.
    init(
        _ id: PartID, having ranges: ByteRanges = ByteRanges(), digesting algorithms: Set<Checksum.Algorithm>,
        staging: ObjectStaging? = nil, diskQueue: DiskQueue, in folder: DownloadsFolder,
        opening: @escaping @Sendable () throws(DiskError) -> Descriptor
    ) {
        self.id = id
        self.diskQueue = diskQueue
        self.staging = staging
        self.folder = folder
        let onDisk = ranges.subtracting(ByteRanges(prefix: staging?.released ?? 0))
        space = PartSpace(of: id, having: onDisk, in: folder.budget) { DiskSpace(around: folder.parts) }
        self.opening = opening
        counters = Locked(Counters(durable: ranges))
        beginning = Locked(Beginning(digests: RunningDigests(algorithms)))
    }

    var written: ByteRanges { counters.withLock { $0.written } }
    var durable: ByteRanges { counters.withLock { $0.durable } }
    /// Whether a sync would make more bytes durable.
    var isDirty: Bool { counters.withLock { $0.isPending && $0.fault == nil } }
    /// Written bytes that a sync would make durable.
    var bytesPending: Int64 { counters.withLock { $0.written.count - $0.durable.count } }
    var fault: DiskError? { counters.withLock { $0.fault } }

    /// Opens the file. Must be called in the disk queue before all other operations.
    func open() throws(DiskError) {
        guard case .not = opened.withLock(\.self) else { return }
        try use(try opening())
    }

    private func use(_ file: Descriptor) throws(DiskError) {
        let state = folder.closesParts ? Opened.closed(try file.status()) : .kept(file)
        opened.withLock { $0 = state }
    }

    /// The open file. Keep the reference for one operation only.
    var file: Descriptor {
        get throws(DiskError) {
            switch opened.withLock(\.self) {
            case .not: throw DiskError("use a part that is not open", code: EBADF)
            case .kept(let file): return file
            case .closed(let status): return try reopened(status)
            }
        }
    }

    private func reopened(_ known: stat) throws(DiskError) -> Descriptor {
        do throws(DiskError) {
            let file = try folder.openFile(of: id, to: "open the part again")
            if try file.status().isOfSameFile(as: known) { return file }
        } catch {
            guard error.code == ENOENT || error.isForeign else { throw error }
        }
        let error = DiskError("open the part, which another program has removed or replaced", code: ESTALE)
        fail(error)
        throw error
    }

    /// Must be called in the disk queue.
    func write(_ bytes: UnsafeRawBufferPointer, at start: Int64) throws(DiskError) {
        let file = try file
        try beginWriting()
        try requireIntact(file)
        try space.prepare(start..<start + Int64(bytes.count), in: file)
        try writer.write(bytes, at: start, to: file)
        let offset = start + Int64(bytes.count)
        beginning.withLock { beginning in
            guard beginning.count == start else { return }
            beginning.digests.update(bytes)
            beginning.count = offset
        }
        counters.withLock { $0.record(written: start..<offset) }
    }

    /// Called before the first write. Claims disk space for the missing bytes, or for those that stay on the disk until a bucket has
    /// them.
    ///
    /// - Parameter size: nil: unknown, so that nothing can be claimed for the whole file.
    func claim(_ size: Int64?) throws(DiskError) {
        if let staging { return try space.claim(window: min(staging.window, size ?? .max)) }
        guard let size else { return }
        if !folder.closesParts { writer.expect(size) }
        try space.claim(size)
    }

    /// Gives back the place of the first bytes, which a bucket has. The store has recorded that. Blocks on the disk meanwhile.
    func release(upTo end: Int64) throws(DiskError) {
        space.release(upTo: end)
        // A file system without holes keeps the bytes.
        guard linux_punch_hole(try file.number, 0, end) != 0, errno != EOPNOTSUPP else { return }
        throw DiskError("give back the place of the part")
    }

    /// Releases the reserved space after the last byte. Must be called in the disk queue.
    func trim() throws(DiskError) {
        let file = try file
        guard ftruncate(file.number, try file.status().st_size) == 0 else { throw DiskError("trim the part") }
    }

    /// Called before each write. Records the number of failed syncs before the first byte that is not durable.
    private func beginWriting() throws(DiskError) {
        let failures = folder.syncs.failures
        try counters.withLock { counters throws(DiskError) in
            if let fault = counters.fault { throw fault }
            if !counters.isPending { counters.failuresBefore = failures }
        }
    }

    /// Fails if another program has cut or removed the file. Further writes would leave holes, or go to a file without
    /// a name.
    private func requireIntact(_ file: Descriptor) throws(DiskError) {
        let status = try file.status()
        guard status.st_nlink == 0 || status.st_size < counters.withLock(\.writtenEnd) else { return }
        let error = DiskError("write the part, which another program has cut or removed", code: ESTALE)
        fail(error)
        throw error
    }

    /// Makes the written bytes durable. Must be called in the disk queue, or after the writes that it has to cover.
    ///
    /// Syncs of one part run one after the other. Of two overlapping syncs only one gets the error, and the other must
    /// not succeed before the failure is recorded.
    func sync() throws(DiskError) {
        try syncing.withLock { _ throws(DiskError) in
            if let fault { throw fault }
            let written = written
            do throws(DiskError) {
                try syncFile()
            } catch {
                fail(error)
                throw error
            }
            try recordDurable(written)
        }
    }

    private func syncFile() throws(DiskError) {
        // Linux can forget the error of a file that no descriptor has open, but not that of its file system.
        if folder.closesParts { return try folder.syncs.sync(try file) }
        if isPublished.withLock({ $0 }) { try file.syncAll() } else { try file.syncData() }
    }

    /// - Parameter written: the bytes that were written when the sync began.
    /// - Throws: when these bytes are lost nevertheless, because another sync had failed before.
    func recordDurable(_ written: ByteRanges) throws(DiskError) {
        let failures = folder.syncs.failures
        try counters.withLock { counters throws(DiskError) in try counters.record(durable: written, after: failures) }
    }

    /// Whether the file keeps its name after a power failure.
    var isNameDurable: Bool { counters.withLock { $0.isNameDurable } }

    /// Called after a sync of the folder of parts that began after the file was opened.
    func recordNameDurable() { counters.withLock { $0.isNameDurable = true } }

    /// Records the first fault. After it the file accepts no byte and no sync.
    func fail(_ error: DiskError) { counters.withLock { $0.fault = $0.fault ?? error } }

    /// The digests of the whole file, after every byte is written. Bytes that did not arrive in order are read from the
    /// file. If a wanted digest was not computed while the bytes arrived, the whole file is read.
    ///
    /// - Parameter isStopped: called between reads; true ends the computation with nil.
    /// - Returns: lowercase hexadecimal digests of all wanted algorithms, and possibly of others.
    func digests(
        _ wanted: Set<Checksum.Algorithm>, isStopped: () -> Bool
    ) throws(DiskError) -> [Checksum.Algorithm: String]? {
        guard !wanted.isEmpty else { return [:] }
        var (digests, offset) = beginning.withLock { ($0.digests, $0.count) }
        if !wanted.isSubset(of: digests.algorithms) { (digests, offset) = (RunningDigests(wanted), 0) }
        let (file, end) = (try file, written.end)
        var buffer: [UInt8] = []
        while offset < end {
            if isStopped() { return nil }
            if buffer.isEmpty { buffer = [UInt8](repeating: 0, count: 1 << 20) }
            let count = try read(&buffer, of: file, at: offset)
            buffer.withUnsafeBytes { digests.update(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            offset += Int64(count)
        }
        return digests.finalize()
    }

    /// The pieces of the complete file that do not match their digests. Reads the whole file.
    ///
    /// - Parameter isStopped: called between reads; true ends the search with nil.
    func wrongPieces(_ pieces: PieceDigests, isStopped: () -> Bool) throws(DiskError) -> [Range<Int64>]? {
        let (file, size) = (try file, written.end)
        var (wrong, buffer): ([Range<Int64>], [UInt8]) = ([], [UInt8](repeating: 0, count: 1 << 20))
        for piece in 0..<pieces.count {
            let range = pieces.range(of: piece, in: size)
            var (hash, offset) = (RunningHash(pieces.algorithm.function), range.lowerBound)
            while offset < range.upperBound {
                if isStopped() { return nil }
                let count = try read(&buffer, atMost: range.upperBound - offset, of: file, at: offset)
                buffer.withUnsafeBytes { hash.update(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
                offset += Int64(count)
            }
            if !pieces.matches(hash.digest, piece: piece) { wrong.append(range) }
        }
        return wrong
    }

    private func read(
        _ buffer: inout [UInt8], atMost limit: Int64 = .max, of file: Descriptor, at offset: Int64
    ) throws(DiskError) -> Int {
        let count = pread(file.number, &buffer, min(buffer.count, Int(clamping: limit)), off_t(offset))
        guard count > 0 else {
            let error = DiskError("read the part back", code: count == 0 ? EIO : errno)
            fail(error)
            throw error
        }
        return count
    }

    /// Gives the file the permissions of a finished file; a part is readable by fetchd only. The next sync makes them
    /// durable.
    func publish() throws(DiskError) {
        try file.setMode(folder.modes.file)
        isPublished.withLock { $0 = true }
    }

    /// From now on the file is this one, a durable copy on another file system.
    func replace(by copy: Descriptor) throws(DiskError) { try use(copy) }

    func mark() throws(DiskError) -> FileMark {
        let file = try file
        return file.mark(try file.status())
    }
}

/// The digests of bytes that arrive in order, computed in one pass. Only the requested algorithms are computed.
struct RunningDigests: Sendable {
    private var hashes: [Checksum.Algorithm: RunningHash]

    init(_ algorithms: Set<Checksum.Algorithm>) {
        hashes = Dictionary(uniqueKeysWithValues: algorithms.map { ($0, RunningHash($0.function)) })
    }

    var algorithms: Set<Checksum.Algorithm> { Set(hashes.keys) }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        for algorithm in hashes.keys { hashes[algorithm]?.update(bytes) }
    }

    /// Lowercase hexadecimal digests of the bytes so far.
    func finalize() -> [Checksum.Algorithm: String] { hashes.mapValues(\.digest.hexadecimal) }
}

extension Checksum.Algorithm {
    var function: HashFunction {
        switch self {
        case .sha256: .sha256
        case .sha512: .sha512
        case .sha1: .sha1
        case .md5: .md5
        case .crc32: .crc32
        case .crc32c: .crc32c
        case .crc64nvme: .crc64nvme
        }
    }
}

extension Attempt {
    /// The file that this attempt writes to: the stored part that it continues, or a new part. fetchd never overwrites stored bytes,
    /// so a restart begins a new part.
    func partFile(
        continuing continued: RequestPlan.Continued?, digesting algorithms: Set<Checksum.Algorithm>,
        staging: ObjectStaging?
    ) -> PartFile {
        let folder = location.folder
        let id = continued?.part.id ?? services.store.makePartID(in: location.ofParts)
        return PartFile(
            id, having: continued?.part.ranges ?? ByteRanges(), digesting: staging == nil ? algorithms : [],
            staging: staging, diskQueue: diskQueue, in: folder
        ) { () throws(DiskError) in
            if let continued { try continued.open(in: folder) } else { try folder.makePart(id) }
        }
    }
}
