import CLinux
import Descriptors
import Downloads
import Foundation
import HTTPSemantics
import Locks

/// The file of one part while an attempt writes to it. Writing, hashing and syncing happen in its lane, in order;
/// the counters can be read from anywhere.
///
/// A failed sync is never tried again: Linux drops the pages it could not write, so a second one would succeed over a
/// hole. From then on the file takes no byte and no sync, and it is never promoted. `durable` stays what it was: an attempt
/// that goes on from those bytes does so in a copy (`DownloadsFolder+Copying.swift`).
final class PartFile: Sendable {
    let id: PartID
    let lane: DiskLane
    private let syncs: FileSystemSyncs
    private let space: PartSpace
    private let opening: @Sendable () throws(DiskError) -> Descriptor
    private let opened = Locked<Descriptor?>(nil)
    private let syncing = Locked(())
    private let counters: Locked<Counters>
    private let beginning: Locked<Beginning>

    private struct Counters {
        /// Handed to the system.
        var written: ByteRanges
        /// On disk.
        var durable: ByteRanges
        /// How many syncs of the file system had failed when the oldest byte was written that is not durable.
        var failuresBefore = 0
        /// Whether the folder's entry of it is on disk.
        var isNameDurable: Bool
        /// Why bytes that were written are lost: a sync has failed.
        var fault: DiskError?

        var isPending: Bool { written != durable }

        mutating func note(durable bytes: ByteRanges, after failures: Int) throws(DiskError) {
            if isPending, failuresBefore != failures {
                fault = fault ?? DiskError("sync the file system of the downloads folder", code: EIO)
            }
            if let fault { throw fault }
            durable = durable.union(bytes)
        }
    }

    /// The digests of the first bytes, as far as they came in order.
    private struct Beginning {
        var digests: RunningDigests
        var count: Int64 = 0
    }

    /// Touches no disk yet: a response head is judged on the transfer loop.
    ///
    /// - Parameters:
    ///   - ranges: bytes that are there and durable already.
    ///   - algorithms: digests that are computed while the bytes come.
    ///   - folder: that the file lies in.
    ///   - opening: gives the file; called once, in the lane.
    init(
        _ id: PartID, having ranges: ByteRanges = ByteRanges(), digesting algorithms: Set<Checksum.Algorithm>,
        lane: DiskLane, in folder: DownloadsFolder,
        opening: @escaping @Sendable () throws(DiskError) -> Descriptor
    ) {
        self.id = id
        self.lane = lane
        syncs = folder.syncs
        space = PartSpace(of: id, having: ranges, in: folder.budget) { folder.space }
        self.opening = opening
        counters = Locked(Counters(written: ranges, durable: ranges, isNameDurable: !ranges.isEmpty))
        beginning = Locked(Beginning(digests: RunningDigests(algorithms)))
    }

    var written: ByteRanges { counters.withLock { $0.written } }
    var durable: ByteRanges { counters.withLock { $0.durable } }
    /// Whether a sync would make more bytes durable.
    var isDirty: Bool { counters.withLock { $0.isPending && $0.fault == nil } }
    /// Why bytes that were written are lost; nil as long as no sync has failed.
    var fault: DiskError? { counters.withLock { $0.fault } }

    /// Opens the file, in the lane, before anything else is done with it.
    func open() throws(DiskError) {
        if opened.withLock({ $0 != nil }) { return }
        let file = try opening()
        opened.withLock { $0 = file }
    }

    var file: Descriptor {
        get throws(DiskError) {
            guard let file = opened.withLock({ $0 }) else {
                throw DiskError("use a part that is not open", code: EBADF)
            }
            return file
        }
    }

    /// To be called in the lane.
    func write(_ bytes: UnsafeRawBufferPointer, at start: Int64) throws(DiskError) {
        let file = try file
        try beginWriting()
        try requireIntact(file)
        try space.prepare(start..<start + Int64(bytes.count), in: file)
        try file.write(bytes, at: start)
        let offset = start + Int64(bytes.count)
        beginning.withLock { beginning in
            guard beginning.count == start else { return }
            beginning.digests.update(bytes)
            beginning.count = offset
        }
        if offset > start { counters.withLock { $0.written.insert(contentsOf: start..<offset) } }
    }

    /// The size of the whole file is known: room is claimed for the rest of it.
    func claim(_ size: Int64) throws(DiskError) { try space.claim(size) }

    /// Gives back what was reserved behind the last byte. To be called in the lane.
    func trim() throws(DiskError) {
        let file = try file
        guard ftruncate(file.number, try file.status().st_size) == 0 else { throw DiskError("trim the part") }
    }

    /// Before the first byte is written that is not durable: which syncs it has not been through.
    private func beginWriting() throws(DiskError) {
        let failures = syncs.failures
        try counters.withLock { counters throws(DiskError) in
            if let fault = counters.fault { throw fault }
            if !counters.isPending { counters.failuresBefore = failures }
        }
    }

    /// What another program has cut or removed meanwhile is not written to: the file would have holes, or no name.
    private func requireIntact(_ file: Descriptor) throws(DiskError) {
        let status = try file.status()
        guard status.st_nlink == 0 || status.st_size < written.end else { return }
        let error = DiskError("write the part, which another program has cut or removed", code: ESTALE)
        fail(error)
        throw error
    }

    /// Makes what is written durable. To be called in the lane, or at least not before the writes it is to cover.
    ///
    /// Syncs of one part follow each other: of two that overlap only one is told of an error, and the other must not be
    /// believed before the failure is noted.
    func sync() throws(DiskError) {
        try syncing.withLock { _ throws(DiskError) in
            if let fault { throw fault }
            let written = written
            do throws(DiskError) {
                try file.syncData()
            } catch {
                fail(error)
                throw error
            }
            try noteDurable(written)
        }
    }

    /// A sync has succeeded.
    ///
    /// - Parameter written: the bytes that were written when it began.
    /// - Throws: when they are lost all the same, because another sync had failed before.
    func noteDurable(_ written: ByteRanges) throws(DiskError) {
        let failures = syncs.failures
        try counters.withLock { counters throws(DiskError) in try counters.note(durable: written, after: failures) }
    }

    /// Whether a power failure leaves the file its name.
    var isNameDurable: Bool { counters.withLock { $0.isNameDurable } }

    /// The folder of parts has been synced since the file was opened.
    func noteNameDurable() { counters.withLock { $0.isNameDurable = true } }

    /// A sync of these bytes has failed.
    func fail(_ error: DiskError) {
        counters.withLock { $0.fault = $0.fault ?? error }
    }

    /// Once everything is written: from the running digests, and by reading once what did not come in order, or all of it
    /// where others are wanted than those that were computed while the bytes came.
    ///
    /// - Parameter isStopped: asked now and then; true ends it with nil.
    /// - Returns: lowercase hexadecimal, of all that are wanted and perhaps of more.
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
            let count = pread(file.number, &buffer, buffer.count, off_t(offset))
            guard count > 0 else {
                let error = DiskError("read the part back", code: count == 0 ? EIO : errno)
                fail(error)
                throw error
            }
            buffer.withUnsafeBytes { digests.update(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            offset += Int64(count)
        }
        return digests.finalize()
    }

    /// Parts are the service's own; the file that becomes of one is for everybody whom the umask lets.
    func publish() throws(DiskError) {
        guard fchmod(try file.number, FileModes.published) == 0 else {
            throw DiskError("set the file's permissions")
        }
    }

    func mark() throws(DiskError) -> FileMark { try file.mark(try file.status()) }
}
