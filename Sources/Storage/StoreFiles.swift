/// The sizes of the database's files and of their file system, in bytes.
public struct StoreFiles: Sendable, Equatable {
    public var database: Int64
    /// The write-ahead log.
    public var log: Int64
    /// What fetchd may still use of the file system; nil if the system does not report it.
    public var free: Int64?
    public var total: Int64?
}
