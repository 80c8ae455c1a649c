import Glibc

extension DownloadsFolder {
    /// Space of the folder's file system; nil when the system does not report it.
    var space: DiskSpace? {
        var status = statvfs()
        guard fstatvfs(root.number, &status) == 0 else { return nil }
        let block = Int64(status.f_frsize)
        return DiskSpace(free: Int64(status.f_bavail) * block, total: Int64(status.f_blocks) * block)
    }
}
