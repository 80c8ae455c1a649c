import Foundation
import Glibc

/// Finds the service that uses a data folder without taking its lock, which could make a start fail.
enum FolderLock {
    /// The process that holds the lock of the folder; nil if none does, or if the system does not show it.
    static func holder(ofDataFolder path: String) -> Int? {
        var status = stat()
        guard stat(path + "/lock", &status) == 0,
            let locks = try? String(contentsOfFile: "/proc/locks", encoding: .utf8)
        else { return nil }
        return holder(ofInode: UInt64(status.st_ino), in: locks)
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
