import Foundation
import GRDB
import Glibc
import TestKit
import Testing

@testable import Storage
@testable import StorageSQLite

/// The real program is killed during an upgrade, and started again. A newer database is refused.
@Suite(.onSQLite) struct InterruptedUpgradeTests {
    private static func counts(_ folder: TemporaryFolder) throws -> [String: Int] {
        try DatabaseQueue(path: folder.path("data/fetchd.sqlite")).read { try StoredRows(readFrom: $0).counts }
    }

    /// SIGKILL before the first, the fifth, ... write to the database or its log.
    @Test(arguments: [18, 19]) func aKillLeavesADatabaseThatTheNextStartUpgrades(_ version: Int) async throws {
        let faults = try await DiskFaults()
        var (call, isKilled) = (1, true)
        while isKilled, call < 400 {
            let folder = try TemporaryFolder()
            try SchemaFixture(version: version).load(into: folder.path("data"))
            let before = try Self.counts(folder)
            try faults.set("* fetchd.sqlite \(call) \(call) KILL")
            isKilled = try await start(folder, faults.environment) == .killed(signal: SIGKILL)
            try faults.heal()
            let fetchd = try await FetchdProcess.start(in: folder)
            let jobs = try await fetchd.api.get("/v1/jobs?limit=1000").json["jobs"].arrayValue ?? []
            #expect(jobs.count == before["jobs"], "killed at call \(call)")
            try await fetchd.stop()
            let database = try DatabaseQueue(path: folder.path("data/fetchd.sqlite"))
            #expect(try await database.read { try Schema.number(of: $0) } == Schema.latest)
            #expect(try await database.read { try IntegrityCheck.findings(in: $0) }.isEmpty)
            try database.close()
            // Dense at the beginning, where the first migrations are.
            call += max(1, call / 3)
        }
        #expect(call > 10)
    }

    /// Starts the program until it is ready or killed.
    private func start(
        _ folder: TemporaryFolder, _ environment: [String: String]
    ) async throws -> ChildProcess.Ending? {
        let child = try await ChildProcess(
            FetchdProcess.program,
            [
                "serve", "--listen", "127.0.0.1:0", "--data-dir", folder.path("data"), "--downloads-dir",
                folder.path("downloads"),
            ], environment: environment)
        let ending: ChildProcess.Ending? = try await eventually("fetchd to be ready or killed") {
            if let ending = child.endingSoFar { return .some(ending) }
            return child.errors.contains(" is ready at ") ? .some(nil) : nil
        }
        child.signal(SIGTERM)
        try await child.waitForEnd()
        return ending
    }

    @Test func refusesANewerDatabaseWithItsVersionAndItsOwn() async throws {
        let folder = try SchemaFixture(version: Schema.latest).open()
        let database = try DatabaseQueue(path: folder.path("fetchd.sqlite"))
        try await database.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('99: from the future')") }
        try database.close()
        let before = folder.bytes(of: "fetchd.sqlite")
        let commands = [
            ["serve", "--listen", "127.0.0.1:0", "--downloads-dir", folder.path("downloads")],
            ["backup", folder.path("copy")],
        ]
        for command in commands {
            let outcome = try await FetchdProcess.run(command + ["--data-dir", folder.path])
            #expect(outcome.ending == .exited(1))
            let says = "has the schema version 99, and this version of fetchd knows versions up to \(Schema.latest)"
            #expect(outcome.errors.contains(says), "\(outcome.errors)")
        }
        #expect(folder.bytes(of: "fetchd.sqlite") == before)
    }
}
