import Foundation
import Glibc

/// The lock of a data folder. A service holds it while it uses the folder. It is looked at without taking it, which could
/// make a start fail.
enum FolderLock: Equatable {
    /// By a process.
    case held(Int)
    case free
    /// The system does not show it. The reason is the end of a sentence.
    case unknown(String)

    init(ofDataFolder path: String) {
        let file = path + "/lock"
        switch Sight(of: file) {
        case .absent: self = .free
        case .hidden(let why): self = .unknown("\(file) cannot be looked at: \(why)")
        case .present:
            var status = stat()
            guard stat(file, &status) == 0, let locks = try? String(contentsOfFile: "/proc/locks", encoding: .utf8)
            else {
                self = .unknown("/proc/locks cannot be read")
                return
            }
            self = Self.holder(ofInode: UInt64(status.st_ino), in: locks).map(FolderLock.held) ?? .free
        }
    }

    var holder: Int? {
        switch self {
        case .held(let process): process
        case .free, .unknown: nil
        }
    }

    /// - Parameter locks: the text of /proc/locks (proc_locks(5)), such as `1: FLOCK ADVISORY WRITE 123 08:01:456 0 EOF`.
    static func holder(ofInode inode: UInt64, in locks: String) -> Int? {
        for line in locks.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count >= 6, words[1] == "FLOCK", words[3] == "WRITE", let process = Int(words[4]) else {
                continue
            }
            if words[5].split(separator: ":").last.flatMap({ UInt64($0) }) == inode { return process }
        }
        return nil
    }
}

/// Whether this process can see a file or a folder.
enum Sight: Equatable {
    case present
    case absent
    /// The file may exist. The reason is that of the system, such as `Permission denied`.
    case hidden(String)

    init(of path: String) {
        var status = stat()
        guard stat(path, &status) != 0 else {
            self = .present
            return
        }
        let reason = errno
        self = reason == ENOENT || reason == ENOTDIR ? .absent : .hidden(String(cString: strerror(reason)))
    }
}
