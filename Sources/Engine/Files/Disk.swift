import Base
import CLinux
import Dispatch
import Downloads
import Glibc
import Synchronization

/// A system call on files that failed, or a request to a bucket.
struct DiskError: Error, Sendable, Equatable {
    let code: Int32
    /// The failed operation, for the message: "write the part".
    let action: String
    /// In place of what the system says of the code.
    private let detail: String?

    init(_ action: String, code: Int32 = errno, detail: String? = nil) {
        self.code = code
        self.action = action
        self.detail = detail
    }

    /// - Returns: the error of the operation; nil when it has succeeded.
    static func of(_ operation: () throws(DiskError) -> Void) -> DiskError? {
        do throws(DiskError) {
            try operation()
            return nil
        } catch {
            return error
        }
    }

    var reason: String {
        switch code {
        case Self.leaseLost: Self.lostLease
        case Self.undeclaredLocation: "no option declares it"
        default: detail ?? String(cString: strerror(code))
        }
    }

    /// The file is no longer the file that was opened or written.
    var isForeign: Bool { code == ESTALE }

    /// The failure of the job: the disk has no space, the disk cannot store the name, or the disk does not work.
    var failure: Failure {
        switch code {
        case ENOSPC, EDQUOT, EFBIG: Failure(.noSpace, "The disk has no room to \(action): \(reason).")
        case ENAMETOOLONG, EINVAL, ELOOP, EXDEV: Failure(.destinationInvalid, "Could not \(action): \(reason).")
        default: Failure(.storageError, "Could not \(action): \(reason).")
        }
    }
}

/// Space of a file system, in bytes.
public struct DiskSpace: Sendable, Equatable {
    /// Free bytes that fetchd may still use.
    public var free: Int64
    public var total: Int64
    /// Identifies the file system.
    var disk: UInt64 = 0
}

/// A serial queue for operations that block on the disk.
struct DiskQueue: Sendable {
    let queue: DispatchQueue

    func async(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

    /// Runs `work` in the calling thread, which must not be one of Swift's tasks, after all work that was added before.
    func sync<Value>(_ work: () -> Value) -> Value { queue.sync(execute: work) }

    /// Runs `work` after all work that was added to the disk queue before.
    func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try work() }) }
        }
    }
}

/// The few threads that block on the disk, so that neither the transfer loop nor Swift's tasks block.
///
/// All operations on one part run in one disk queue, in order.
final class DiskQueues: Sendable {
    private let queues: [DispatchQueue]
    private let turn = Atomic(0)
    /// For short operations on names: open, remove and sweep files, and read the free space. They do not wait for long
    /// writes and hashes.
    let metadata = DiskQueue(queue: DispatchQueue(label: "fetchd.disk.metadata", qos: .userInitiated))

    /// For time limits. Nothing in it blocks on the disk.
    let timer = DispatchQueue(label: "fetchd.disk.timer")

    init(count: Int = 4) { queues = (0..<count).map { DispatchQueue(label: "fetchd.disk.\($0)", qos: .userInitiated) } }

    func next() -> DiskQueue {
        DiskQueue(queue: queues[turn.wrappingAdd(1, ordering: .relaxed).oldValue % queues.count])
    }
}

extension Descriptor {
    /// - Throws: `DiskError` with the error code of `openat`.
    static func open(
        _ path: String, in folder: Descriptor? = nil, flags: Int32, mode: mode_t = 0o600, to action: String
    ) throws(DiskError) -> Descriptor {
        let number = openat(folder?.number ?? AT_FDCWD, path, flags | O_CLOEXEC, mode)
        guard number >= 0 else { throw DiskError(action) }
        return Descriptor(owning: number)
    }

    func status() throws(DiskError) -> stat {
        var status = stat()
        guard fstat(number, &status) == 0 else { throw DiskError("look at an open file") }
        return status
    }

    /// - Parameter status: the status of this descriptor, which the caller has read already.
    func mark(_ status: stat) -> FileMark {
        let born = linux_birth_time(number)
        return FileMark(inode: UInt64(status.st_ino), born: born == 0 ? nil : born, modified: status.modified)
    }

    func write(_ bytes: UnsafeRawBufferPointer, at start: Int64) throws(DiskError) {
        var offset = start
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = pwrite(number, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count, off_t(offset))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw DiskError("write the part") }
            offset += Int64(count)
            rest = rest.dropFirst(count)
        }
    }

    /// Flushes the data, and the metadata that is needed to read it back.
    func syncData() throws(DiskError) {
        guard fdatasync(number) == 0 else { throw DiskError("sync the part") }
    }

    /// Flushes the data and all metadata, such as the permissions.
    func syncAll() throws(DiskError) {
        guard fsync(number) == 0 else { throw DiskError("sync the part") }
    }

    func setMode(_ mode: mode_t) throws(DiskError) {
        guard fchmod(number, mode) == 0 else { throw DiskError("set the permissions") }
    }

    /// Opens a file that only fetchd may have made: a regular file with one name. A link to another file, or another
    /// name of it, would let fetchd change a file outside the downloads folder.
    static func openOwn(_ name: String, in folder: Descriptor, to action: String) throws(DiskError) -> Descriptor {
        let file = try open(name, in: folder, flags: O_RDWR | O_NOFOLLOW | O_NONBLOCK, to: action)
        let status = try file.status()
        guard status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1 else {
            throw DiskError("\(action), which is not a file of fetchd", code: ESTALE)
        }
        return file
    }

    func sync() throws(DiskError) { guard fsync(number) == 0 else { throw DiskError("sync a folder") } }
}

extension stat {
    /// The time of the last write, in nanoseconds since 1970.
    var modified: Int64 { Int64(st_mtim.tv_sec) * 1_000_000_000 + Int64(st_mtim.tv_nsec) }

    func isOfSameFile(as other: stat) -> Bool { st_ino == other.st_ino && st_dev == other.st_dev }
}
