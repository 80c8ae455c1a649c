import Base
import CLinux
import Downloads
import Glibc

/// Writes the bytes of a part. The aligned bytes of a large file go past the page cache (`O_DIRECT`).
///
/// To copy a large file to the page cache, and to write it back from there, costs several times the CPU time of the disk
/// operation, and the pages displace those of other files. A small file stays in the cache, because it is read soon. The
/// kernel keeps both ways of writing one file consistent. Neither makes bytes durable: that needs a sync.
final class PartWriter: Sendable {
    private enum Path {
        case cached
        /// The next aligned bytes go past the cache, if the file system allows that.
        case untried
        case direct(Descriptor)
    }

    private let path = Locked(Path.cached)

    /// Bytes. A file of at least this size goes past the page cache.
    static let largeFile: Int64 = 64 << 20
    /// Fewer bytes go through the cache: each direct write waits for the disk.
    private static let worthWaiting = 128 << 10
    /// The alignment that every Linux file system and disk accepts, in bytes.
    private static let alignment = 4096

    /// Called when the size of the whole file is known.
    func expect(_ size: Int64) {
        guard size >= Self.largeFile else { return }
        path.withLock { if case .cached = $0 { $0 = .untried } }
    }

    var isDirect: Bool { path.withLock { if case .direct = $0 { true } else { false } } }

    /// Must be called in the disk queue of the part.
    func write(_ bytes: UnsafeRawBufferPointer, at start: Int64, to file: Descriptor) throws(DiskError) {
        guard let aligned = Self.aligned(bytes, at: start), let direct = direct(file) else {
            return try file.write(bytes, at: start)
        }
        let before = UnsafeRawBufferPointer(rebasing: bytes[..<aligned.lowerBound])
        let middle = UnsafeRawBufferPointer(rebasing: bytes[aligned])
        let after = UnsafeRawBufferPointer(rebasing: bytes[aligned.upperBound...])
        try file.write(before, at: start)
        try write(middle, at: start + Int64(aligned.lowerBound), past: direct, orTo: file)
        try file.write(after, at: start + Int64(aligned.upperBound))
    }

    /// The bytes whose address and whose offset in the file are both aligned; nil if they are not worth a direct write.
    static func aligned(_ bytes: UnsafeRawBufferPointer, at start: Int64) -> Range<Int>? {
        let before = (alignment - Int(start % Int64(alignment))) % alignment
        let count = (bytes.count - before) / alignment * alignment
        guard count >= worthWaiting, let base = bytes.baseAddress,
            (Int(bitPattern: base) + before).isMultiple(of: alignment)
        else { return nil }
        return before..<before + count
    }

    private func write(
        _ bytes: UnsafeRawBufferPointer, at start: Int64, past direct: Descriptor, orTo file: Descriptor
    ) throws(DiskError) {
        do throws(DiskError) {
            try direct.write(bytes, at: start)
        } catch {
            guard error.code == EINVAL else { throw error }
            // The file system accepted the flag, but does not accept the alignment.
            path.withLock { $0 = .cached }
            try file.write(bytes, at: start)
        }
    }

    /// A descriptor of the same file that bypasses the page cache; nil if the file is small, or if its file system has
    /// no such descriptors.
    private func direct(_ file: Descriptor) -> Descriptor? {
        path.withLock { path in
            switch path {
            case .cached: return nil
            case .direct(let direct): return direct
            case .untried:
                let flags = O_WRONLY | O_CLOEXEC | linux_O_DIRECT
                guard let direct = Descriptor(result: open("/proc/self/fd/\(file.number)", flags)) else {
                    path = .cached
                    return nil
                }
                path = .direct(direct)
                return direct
            }
        }
    }
}
