import Base
import Downloads
import Formats
import Foundation
import TestKit

@testable import Storage
@testable import StoragePostgres
@testable import StorageSQLite

/// A store that shares its PostgreSQL database with others.
struct TestedNode {
    let store: Store
    let folder: TemporaryFolder
    /// The path of the key, which all nodes need.
    let key: String
    /// Whether the node has learned that others have taken over.
    let isLost = Locked(false)
    /// How often it was informed.
    let losses = Locked(0)

    /// - Parameters:
    ///   - key: nil: the key of all tests.
    ///   - isStarting: whether its workers do not run yet, so that it does not lead.
    init(
        _ fixture: PostgresFixture, _ folder: TemporaryFolder? = nil, key: String? = nil, isStarting: Bool = false
    ) async throws {
        self.folder = try folder ?? TemporaryFolder()
        self.key = try key ?? Self.commonKey.get()
        var options = Store.Options()
        options.server = .postgres(fixture.url)
        options.acceptsUnsafeServer = true
        options.key = .file(self.key)
        options.onReplacement = { [isLost, losses] _ in
            losses.withLock { $0 += 1 }
            isLost.withLock { $0 = true }
        }
        store = try await Store.open(at: self.folder.path, options: options, time: ManualTime())
        if !isStarting { _ = try await store.takeOverNodes() }
    }

    private static let keys = Result { try TemporaryFolder() }
    private static let commonKey = Result { try makeKey() }

    /// - Returns: the path of a new key.
    static func makeKey() throws -> String {
        let path = try keys.get().path(UUID().uuidString)
        let bytes = Data((0..<32).map { _ in UInt8.random(in: 0...255) })
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        _ = FileManager.default.createFile(
            atPath: path, contents: Data(bytes.base64EncodedString().utf8), attributes: attributes)
        return path
    }

    var number: Int64 { store.node?.number ?? 0 }

    func create(_ url: String = "https://host/file") async throws -> Job {
        try await store.createJobs([NewJob(session: .default, spec: JobSpec(url: url))])[0]
    }

    /// Takes over from nodes whose leases have ended, without the time for which a node has to watch them.
    func takeOver(sharesDownloads: Bool = false) async throws -> Takeover {
        try await store.writer.write { [serverTime] in
            try $0.takeOverNodes(at: serverTime, sharesDownloads: sharesDownloads, limit: 500)
        }
    }

    /// The server's time as the node estimates it, in milliseconds since 1970 (UTC).
    var serverTime: Int64? { store.engine.cluster?.clock.now.milliseconds }
}
