import Downloads
import Foundation
import Glibc

/// The part files of a downloads folder beside the parts that a database promises. It changes nothing.
public struct PartsInspection: Sendable, Equatable {
    /// Promised parts without a file: their jobs begin again from 0.
    public var missing: [String] = []
    /// Promised parts whose file is shorter than promised: their jobs begin again from 0.
    public var short: [String] = []
    /// Files that no job needs, and their bytes. The next start removes them, unless they are older than the database.
    public var orphans: [String] = []
    public var orphanedBytes: Int64 = 0
    /// Why the folder of the parts cannot be read; nil if it can be, or does not exist.
    public var unreadable: String?

    /// - Parameters:
    ///   - promised: the end of the last promised range of each part.
    ///   - grace: seconds. A file that was written within this time belongs to a transfer whose part is not stored yet.
    public init(ofDownloadsFolder path: String, promised: [PartID: Int64], sparingWithin grace: Double) {
        let folder = "\(path)/\(FilePathRule.partsDirectory)"
        guard access(folder, R_OK | X_OK) == 0 || errno == ENOENT else {
            unreadable = String(cString: strerror(errno))
            return
        }
        for (id, end) in promised.sorted(by: { $0.key.text < $1.key.text }) {
            var status = stat()
            guard lstat("\(folder)/\(id.fileName)", &status) == 0 else {
                missing.append(id.text)
                continue
            }
            if status.st_size < end { short.append(id.text) }
        }
        let known = Set(promised.keys.map(\.fileName))
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names.sorted() where name.hasSuffix(FilePathRule.partSuffix) && !known.contains(name) {
            var status = stat()
            guard lstat("\(folder)/\(name)", &status) == 0 else { continue }
            let age = Date().timeIntervalSince1970 - Double(status.st_mtim.tv_sec)
            guard age >= grace else { continue }
            orphans.append(name)
            orphanedBytes += Int64(status.st_size)
        }
    }
}
