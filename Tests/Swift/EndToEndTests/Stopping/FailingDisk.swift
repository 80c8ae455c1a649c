import Testing

/// A way in which the disk fails while the service stops.
struct FailingDisk: Sendable, CustomTestStringConvertible {
    var name: String
    /// Rules in the syntax of disk_faults.c.
    var rules: [String]

    var testDescription: String { name }

    static let syncsOfTheDatabaseFail = FailingDisk(
        name: "every sync of the database fails", rules: ["fdatasync,fsync fetchd.sqlite 1 - EIO"])
    static let logIsFull = FailingDisk(
        name: "the disk of the log is full", rules: ["write,pwrite64,ftruncate,fallocate fetchd.sqlite 1 - ENOSPC"])
    static let dataFolderIsReadOnly = FailingDisk(
        name: "the data folder is read-only",
        rules: ["write,pwrite64,ftruncate,fallocate,fdatasync,fsync,unlink fetchd.sqlite 1 - EROFS"])
    static let downloadsFail = FailingDisk(
        name: "every call on the downloads folder fails",
        rules: ["pwrite64,fdatasync,fsync,syncfs,renameat2,linkat,unlink,ftruncate,fallocate downloads 1 - EIO"])
    static let everythingFails = FailingDisk(
        name: "both folders fail", rules: syncsOfTheDatabaseFail.rules + downloadsFail.rules)

    static let database = [syncsOfTheDatabaseFail, logIsFull, dataFolderIsReadOnly]
}
