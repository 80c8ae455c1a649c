import Foundation
import Logging
import Sealing
import TestKit
import Testing

@testable import Storage
@testable import StoragePostgres

/// Services that open a new PostgreSQL database at the same time agree on one key.
@Suite(.onItsOwnThread, .enabled(if: PostgresServer.isAvailable), .sharedPostgresServer)
struct SharedKeyTests {
    /// Another service gives the database its key after this one has read that it has none.
    private final class ContestedDatabase: StoreDatabase {
        let engine: PostgresEngine
        private var rival: SealingKey?

        init(_ rival: SealingKey) throws {
            engine = try PostgresEngine(url: PostgresFixture().url, requiresDurability: false, node: nil)
            self.rival = rival
        }

        func read<Value>(_ body: (SQLConnection) throws -> Value) throws -> Value { try engine.read(body) }

        func change(_ body: (SQLConnection) throws -> Void) throws {
            if let key = rival { try engine.change { try KeyCheck.write(key, in: $0) } }
            rival = nil
            try engine.change(body)
        }

        func has(_ key: SealingKey) throws -> Bool { try engine.read { try KeyCheck($0)?.fits(key) } == true }
    }

    private let folder: TemporaryFolder
    private let rival = SealingKey.random()

    init() throws { folder = try TemporaryFolder() }

    private func open(_ database: ContestedDatabase, acceptingLoss: Bool = false) throws -> Keyring {
        let data = try DataFolder(at: folder.path)
        defer { data.release() }
        let unlocking = try Unlocking(
            data, .dataFolder, database: "test", acceptsLoss: acceptingLoss,
            isInUse: PostgresOpening.isInUse(besides: nil))
        try database.read(unlocking.verify)
        return try unlocking.keyring(database, Logger(label: "test"))
    }

    private var file: KeyFile { KeySource.file(inDataFolder: folder.path) }

    @Test func theSameKeyIsAccepted() async throws {
        let database = try ContestedDatabase(rival)
        try file.write([SealingKey.random(), rival])
        #expect(try open(database).current.id == rival.id)
        #expect(try database.has(rival))
    }

    @Test func anotherKeyIsRefused() async throws {
        let database = try ContestedDatabase(rival)
        try file.write([SealingKey.random()])
        let error = #expect(throws: StoreError.self) { try open(database) }
        guard case .keyWrong? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try database.has(rival))
    }

    @Test func aServiceWithoutAKeyMakesNone() async throws {
        let database = try ContestedDatabase(rival)
        let error = #expect(throws: StoreError.self) { try open(database) }
        guard case .keyUnusable? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try file.read() == nil)
        #expect(try database.has(rival))
    }

    @Test func aLostKeyIsReplacedIfTheLossIsAccepted() async throws {
        let database = try ContestedDatabase(rival)
        let keys = try open(database, acceptingLoss: true)
        #expect(try file.read()?.map(\.id) == [keys.current.id])
        #expect(try database.has(keys.current))
        #expect(try !database.has(rival))
        #expect(try open(database).current.id == keys.current.id)
    }

    /// The other service has the key, and seals with it.
    @Test func aKeyThatAnotherServiceUsesIsNotLost() async throws {
        let database = try ContestedDatabase(rival)
        try database.engine.change { db in
            try db.run(
                """
                INSERT INTO nodes (id, epoch, url, version, downloads, slots, started_at, expires_at)
                VALUES ('other', 1, NULL, '', 'local', 1, 0, \(ServerTime.now) + 60000)
                """)
        }
        let error = #expect(throws: StoreError.self) { try open(database, acceptingLoss: true) }
        #expect(error?.description.contains("Other services use test now, and have its key") == true)
        #expect(try file.read() == nil)
        #expect(try database.has(rival))
    }
}
