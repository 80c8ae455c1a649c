import CLinux
import Downloads
import Foundation
import Locks

/// The file of one part while an attempt writes to it. Writing, hashing and syncing happen in its lane, in order;
/// the counters can be read from anywhere.
///
/// A failed sync is never tried again: Linux drops the pages it could not write, so a second one would succeed over a
/// hole. The offset that was committed before stays the promise.
final class PartFile: Sendable {
    let id: PartID
    let lane: DiskLane
    private let opening: @Sendable () throws(DiskError) -> Descriptor
    private let opened = Locked<Descriptor?>(nil)
    private let counters: Locked<Counters>
    /// nil where the attempt began in the middle.
    private let running: Locked<RunningDigests?>

    private struct Counters {
        /// Bytes from the beginning that have been handed to the system.
        var written: Int64
        /// Bytes from the beginning that are on disk.
        var durable: Int64
        var isBroken = false
    }

    /// Touches no disk yet: a response head is judged on the transfer loop.
    ///
    /// - Parameters:
    ///   - offset: bytes that are there and durable already.
    ///   - algorithms: digests that are computed while the bytes come.
    ///   - opening: gives the file; called once, in the lane.
    init(
        _ id: PartID, offset: Int64, digesting algorithms: Set<Checksum.Algorithm>, lane: DiskLane,
        opening: @escaping @Sendable () throws(DiskError) -> Descriptor
    ) {
        self.id = id
        self.lane = lane
        self.opening = opening
        counters = Locked(Counters(written: offset, durable: offset))
        running = Locked(offset == 0 ? RunningDigests(algorithms) : nil)
    }

    var written: Int64 { counters.withLock { $0.written } }
    var durable: Int64 { counters.withLock { $0.durable } }
    var isDirty: Bool { counters.withLock { $0.written > $0.durable && !$0.isBroken } }

    /// Opens the file, in the lane, before anything else is done with it.
    func open() throws(DiskError) {
        if opened.withLock({ $0 != nil }) { return }
        let file = try opening()
        opened.withLock { $0 = file }
    }

    private var file: Descriptor {
        get throws(DiskError) {
            guard let file = opened.withLock({ $0 }) else {
                throw DiskError("use a part that is not open", code: EBADF)
            }
            return file
        }
    }

    /// Reserves the blocks, so that a full disk is noticed before the transfer. File systems that cannot are none the worse.
    func preallocate(_ size: Int64) throws(DiskError) {
        guard size >= Self.worthReserving else { return }
        guard linux_preallocate(try file.number, size) != 0 else { return }
        if errno == ENOSPC || errno == EDQUOT || errno == EFBIG { throw DiskError("reserve \(size) bytes") }
    }

    /// Appends. To be called in the lane.
    func append(_ bytes: UnsafeRawBufferPointer) throws(DiskError) {
        let file = try file
        var offset = written
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = pwrite(
                file.number, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count, off_t(offset))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw DiskError("write the part") }
            offset += Int64(count)
            rest = rest.dropFirst(count)
        }
        running.withLock { $0?.update(bytes) }
        counters.withLock { $0.written = offset }
    }

    /// Makes what is written durable. To be called in the lane, or at least not before the writes it is to cover.
    func sync() throws(DiskError) {
        let written = written
        do {
            try file.syncData()
        } catch {
            counters.withLock { $0.isBroken = true }
            throw error
        }
        counters.withLock { $0.durable = max($0.durable, written) }
    }

    /// After the whole file system has been synced.
    ///
    /// - Parameter written: what was written when that began.
    func noteDurable(_ written: Int64) { counters.withLock { $0.durable = max($0.durable, written) } }

    /// Of all bytes, once everything is written: those that were computed while the bytes came, where they are what is
    /// wanted, else by reading the part once for all of them.
    ///
    /// - Parameter isStopped: asked now and then; true ends it with nil.
    func digests(_ wanted: Set<Checksum.Algorithm>, isStopped: () -> Bool) throws(DiskError) -> [Checksum.Algorithm:
        String]?
    {
        if let digests = running.withLock({ $0 })?.finalize(), wanted.isSubset(of: digests.keys) { return digests }
        return wanted.isEmpty ? [:] : try readBack(wanted, isStopped)
    }

    private func readBack(
        _ wanted: Set<Checksum.Algorithm>, _ isStopped: () -> Bool
    ) throws(DiskError) -> [Checksum.Algorithm: String]? {
        let file = try file
        var digests = RunningDigests(wanted)
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        var offset: off_t = 0
        while offset < written {
            if isStopped() { return nil }
            let count = pread(file.number, &buffer, buffer.count, offset)
            guard count > 0 else { throw DiskError("read the part back", code: count == 0 ? EIO : errno) }
            buffer.withUnsafeBytes { digests.update(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            offset += off_t(count)
        }
        return digests.finalize()
    }

    /// Parts are the service's own; the file that becomes of one is for everybody whom the umask lets.
    func publish() throws(DiskError) {
        guard fchmod(try file.number, 0o666 & ~FileModes.mask) == 0 else {
            throw DiskError("set the file's permissions")
        }
    }

    func mark() throws(DiskError) -> FileMark { try file.mark(try file.status()) }

    /// Bytes below which reserving costs more than it tells.
    private static let worthReserving: Int64 = 1 << 20
}

/// The process's umask, which can only be read by setting it.
enum FileModes {
    static let mask: mode_t = {
        let mask = umask(0o022)
        umask(mask)
        return mask
    }()
}
