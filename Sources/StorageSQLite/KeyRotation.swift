import Foundation
import GRDB
import Logging
import Sealing
import Storage

/// Seals all secrets of a store with another key, while no service runs.
///
/// A key file has the old and the new key before the first value is sealed with the new one, and loses the old key when
/// the last value is. So the store opens after a crash in any step, and the rotation can be repeated.
public struct KeyRotation: Sendable {
    /// The steps, in their order.
    public enum Step: Sendable, CaseIterable {
        /// The key file has both keys.
        case keysWritten
        /// All values are sealed with the new key.
        case resealed
        /// The key file has the new key only.
        case oldKeyRemoved
        /// The file of the database has no value any more that the old key opens.
        case copiesRemoved
    }

    private let folder: String
    private let source: KeySource
    private let newKeyFile: String?
    private let afterStep: @Sendable (Step) throws -> Void

    /// - Parameters:
    ///   - source: the present key.
    ///   - newKeyFile: a file with the new key, which the administrator has created; nil: a random key replaces the one in
    ///     the present key file.
    ///   - afterStep: is called after each step; an error ends the rotation there.
    public init(
        inDataFolder folder: String, source: KeySource, newKeyFile: String?,
        afterStep: @escaping @Sendable (Step) throws -> Void = { _ in }
    ) {
        self.folder = folder
        self.source = source
        self.newKeyFile = newKeyFile
        self.afterStep = afterStep
    }

    /// - Returns: the identifier of the new key.
    /// - Throws: `StoreError`: `folderInUse` while a service runs, `keyWrong`, `keyUnusable`, and those of `Store`.
    public func run() async throws -> String {
        try Self.requireDatabase(in: folder)
        let (new, file) = (try newKey(), try keyFile())
        try await reseal(with: new, file)
        if let file {
            try writing { () throws(KeyError) in try file.write([new]) }
            try afterStep(.oldKeyRemoved)
        }
        // The start of a store removes the former texts from the file.
        try await open(newKeyFile.map { KeySource.file($0) } ?? source).close()
        try afterStep(.copiesRemoved)
        return new.id
    }

    private func reseal(with new: SealingKey, _ file: KeyFile?) async throws {
        let store = try await open(source)
        do {
            if let file {
                let keys = store.sealer.keys.all + [new]
                try writing { () throws(KeyError) in try file.write(keys) }
                try afterStep(.keysWritten)
            }
            try await store.reseal(with: new)
            try afterStep(.resealed)
        } catch {
            try? await store.close()
            throw error
        }
        try await store.close()
    }

    private func open(_ source: KeySource) async throws(StoreError) -> Store {
        var options = Store.Options()
        options.key = source
        return try await Store.open(at: folder, options: options)
    }

    private static func requireDatabase(in folder: String) throws(StoreError) {
        guard !FileManager.default.fileExists(atPath: DataFiles(path: folder).database) else { return }
        throw .folderUnusable(path: folder, why: "it has no database")
    }

    private func newKey() throws -> SealingKey {
        guard let newKeyFile else { return .random() }
        return try writing { () throws(KeyError) in
            try KeySource.file(newKeyFile).keys(inDataFolder: folder)?.first ?? .random()
        }
    }

    /// The file in which the new key replaces the old one; nil if the administrator keeps the keys.
    private func keyFile() throws -> KeyFile? {
        guard newKeyFile == nil else { return nil }
        switch source {
        case .dataFolder: return KeySource.file(inDataFolder: folder)
        case .file(let path): return KeyFile(path: path)
        case .command:
            throw StoreError.keyUnusable(
                why: "fetchd cannot store a new key where --key-command gets it. Give the new key with --new-key-file.")
        }
    }

    private func writing<Value>(_ body: () throws(KeyError) -> Value) throws(StoreError) -> Value {
        do { return try body() } catch { throw .keyUnusable(why: error.description) }
    }
}

extension KeyRotation {
    /// Gives up a key that is lost. The next start takes any key, and continues without the secrets that the lost key has
    /// sealed.
    ///
    /// - Throws: `folderInUse` while a service runs; `databaseFromNewerVersion`, `databaseFromOlderVersion`.
    public static func giveUpKey(inDataFolder path: String) throws(StoreError) {
        try requireDatabase(in: path)
        let folder = try DataFolder(at: path)
        defer { folder.release() }
        do {
            let database = try DatabaseQueue(path: folder.database, configuration: Connections.configuration())
            try database.read { try Schema.requireKnown($0, path: folder.database) }
            try database.write { try KeyCheck.remove(in: SQLConnection($0)) }
            try database.close()
        } catch {
            throw folder.openingError(error)
        }
    }
}

extension Store {
    /// Seals all values with this key, in one transaction. The store still seals with its former key: close it afterwards.
    func reseal(with key: SealingKey) async throws {
        let sealer = Sealer(keys: sealer.keys.sealing(with: key))
        try await writer.write { transaction in
            try SecretRows(transaction.db).reseal(with: sealer)
            try KeyCheck.write(key, in: transaction.db)
            try SealingStep.vacuum.write(transaction.db)
        }
    }
}

/// Whether values that an earlier key has sealed may still be in the free space of the file. A crash repeats their removal.
enum SealingStep: String {
    case vacuum, done

    static func read(_ db: SQLConnection) throws -> SealingStep {
        try db.value("SELECT step FROM sealing", as: String.self).flatMap(SealingStep.init) ?? .done
    }

    func write(_ db: SQLConnection) throws { try db.run("UPDATE sealing SET step = ?", [rawValue]) }

    /// Without room for a second copy of the database, the service starts nevertheless, and the next start tries again.
    static func complete(_ connections: Connections, _ log: Logger) throws {
        guard try connections.read(read) == .vacuum else { return }
        do {
            try connections.vacuum()
        } catch let error as DatabaseError where error.resultCode == .SQLITE_FULL {
            return log.warning(
                "The secrets in the database are sealed with the new key, but the free space of its file may have copies that the former key opens. Their removal needs room for a copy of the database. The next start tries again."
            )
        }
        try connections.change(done.write)
        log.notice("fetchd has removed the copies of secrets that a former key opens from the file of the database.")
    }
}
