import GRDB
import Storage

/// Rewrites the database of a stopped service without its free space.
public enum Compaction {
    /// An interruption leaves the former file. The rewriting needs as much free space as the data in use.
    ///
    /// - Returns: the space before and after.
    /// - Throws: `folderInUse`; as `Store.init` for a database that cannot be opened.
    public static func run(inDataFolder path: String) throws(StoreError) -> (
        before: DatabaseSpace, after: DatabaseSpace
    ) {
        let folder = try DataFolder(at: path)
        guard try folder.size(of: folder.database) ?? 0 > 0 else {
            throw .databaseUnreadable(path: folder.database, why: "it does not exist")
        }
        _ = try StartupCheck(folder: folder, mark: try MarkFile.read(folder.mark), quickCheckLimit: .max).run()
        do {
            let connections = try Connections(path: folder.database, readers: 1)
            let before = try connections.read(DatabaseSpace.init(readFrom:))
            try connections.vacuum()
            let after = try connections.read(DatabaseSpace.init(readFrom:))
            try connections.close()
            return (before, after)
        } catch {
            throw folder.openingError(error)
        }
    }
}
