/// How much of a database file is in use. Deleted rows leave free pages, which later rows use; the file does not become
/// smaller by itself.
public struct DatabaseSpace: Sendable, Equatable {
    /// The size of the file in bytes.
    public var size: Int64
    /// The bytes of its free pages.
    public var free: Int64

    init(readFrom db: SQLConnection) throws {
        let page = try db.value("PRAGMA page_size", as: Int64.self) ?? 0
        size = page * (try db.value("PRAGMA page_count", as: Int64.self) ?? 0)
        free = page * (try db.value("PRAGMA freelist_count", as: Int64.self) ?? 0)
    }

    init(size: Int64, free: Int64) { (self.size, self.free) = (size, free) }

    /// The bytes in use, which a rewriting of the file copies.
    public var used: Int64 { size - free }

    /// Whether a rewriting is worth its cost: at least half of the file is free, and at least 16 MiB.
    public var isMostlyFree: Bool { free >= 16 << 20 && free * 2 >= size }
}
