import Formats
import Foundation
import TestKit
import Testing

/// Failed syncs of the database, which lose the pages they should have made durable: acknowledged changes are kept, and
/// refused changes do not reappear.
@Suite(.onSQLite) struct FailedDatabaseSyncTests {
    private func submit(_ tag: String, _ count: Int = 1, to fetchd: FetchdProcess) async throws -> APIAnswer {
        let job: JSON = [
            "url": "http://127.0.0.1:1/", "not_before": "2090-01-01T00:00:00Z", "tags": [.string(tag)],
        ]
        return try await fetchd.api.post("/v1/jobs/batch", ["jobs": .array(Array(repeating: job, count: count))])
    }

    private func count(_ tag: String, _ fetchd: FetchdProcess) async throws -> Int {
        try await fetchd.api.get("/v1/jobs?tag=\(tag)&limit=1000").json["jobs"].count
    }

    @Test(arguments: ["EIO!", "EIO"])
    func refusesCommitWhoseSyncFailed(_ error: String) async throws {
        let faults = try await DiskFaults()
        let fetchd = try await FetchdProcess.start(.init(environment: faults.environment))
        #expect(try await submit("before", 3, to: fetchd).status == 201)
        try faults.set("fdatasync,fsync fetchd.sqlite-wal$ 1 1 \(error)")
        let refused = try await submit("refused", 2, to: fetchd)
        #expect(refused.status == 503)
        #expect(refused.header("retry-after") != nil)
        #expect(refused.json["detail"].string?.contains("the change is not stored") ?? false)
        if error == "EIO!" { #expect(try await submit("after", 4, to: fetchd).status == 201) }
        try await fetchd.kill()
        #expect(faults.log.count == 1)
        try faults.heal()
        try await fetchd.restart()
        #expect(try await count("before", fetchd) == 3)
        #expect(try await count("refused", fetchd) == 0)
        #expect(try await count("after", fetchd) == (error == "EIO!" ? 4 : 0))
    }

    @Test func answersReadyz503WhileNothingCanBeStoredAndRecovers() async throws {
        let faults = try await DiskFaults()
        let fetchd = try await FetchdProcess.start(.init(environment: faults.environment))
        try faults.set("fdatasync,fsync fetchd.sqlite-wal$ 1 - EIO!")
        let refused = try await submit("refused", to: fetchd)
        #expect(refused.status == 503)
        #expect(refused.json["detail"].string?.contains("it is not certain") ?? false)
        let readiness = try await fetchd.api.get("/readyz")
        #expect(readiness.status == 503)
        #expect(readiness.json["detail"].string?.contains("disk of the database failed") ?? false)
        try faults.heal()
        _ = try await eventually("fetchd to be ready again") {
            try await fetchd.api.get("/readyz").status == 200 ? true : nil
        }
        #expect(try await submit("after", to: fetchd).status == 201)
        try await fetchd.kill()
        try await fetchd.restart()
        #expect(try await count("after", fetchd) == 1)
    }

    /// A reader stops a checkpoint half-way; the sync of the next checkpoint fails, and with it the pages of both.
    @Test func losesNothingWhenDatabaseSyncFailsAfterPartialCheckpoint() async throws {
        let faults = try await DiskFaults()
        let fetchd = try await FetchdProcess.start(.init(environment: faults.environment))
        #expect(try await submit("a", 500, to: fetchd).status == 201)
        let reader = try await Reader(fetchd.folder.path("data/fetchd.sqlite"))
        // More than the 16 MiB of log that start a checkpoint, twice.
        for tag in ["b", "c", "d"] { #expect(try await submit(tag, 10_000, to: fetchd).status == 201) }
        try await reader.end()
        try faults.set("fdatasync,fsync fetchd.sqlite$ 1 1 EIO!")
        for tag in ["e", "f", "g"] { #expect(try await submit(tag, 10_000, to: fetchd).status == 201) }
        _ = try await eventually("the sync to fail") { faults.log.isEmpty ? nil : true }
        #expect(try await submit("h", 500, to: fetchd).status == 201)
        _ = try await eventually("fetchd to be ready again") {
            try await fetchd.api.get("/readyz").status == 200 ? true : nil
        }
        #expect(fetchd.log.contains("disk of the database failed"))
        #expect(!fetchd.log.contains("malformed"))
        #expect(try await submit("i", 500, to: fetchd).status == 201)
        try await fetchd.kill()
        try faults.heal()
        try await fetchd.restart()
        for tag in ["a", "h", "i"] { #expect(try await count(tag, fetchd) == 500) }
        #expect(try await fetchd.api.get("/v1/stats").json["jobs"]["queued"].integer == 61_500)
        try await fetchd.terminate()
        let check = try await ChildProcess.run(
            Project.python,
            [
                "-c",
                "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute('PRAGMA integrity_check').fetchone()[0])",
                fetchd.folder.path("data/fetchd.sqlite"),
            ])
        #expect(check.output == "ok\n", "\(check.output)\(check.errors)")
    }

    @Test func keepsLogAndExitsWith74WhenFinalCheckpointFails() async throws {
        let faults = try await DiskFaults()
        let fetchd = try await FetchdProcess.start(.init(environment: faults.environment))
        #expect(try await submit("before", 3, to: fetchd).status == 201)
        try faults.set("fdatasync,fsync fetchd.sqlite$ 1 - EIO!")
        #expect(try await fetchd.terminate() == .exited(74))
        #expect(fetchd.log.contains("fetchd.sqlite-wal could not be copied into the database"))
        try faults.heal()
        try await fetchd.restart()
        #expect(try await count("before", fetchd) == 3)
    }

    /// The first sync of a start belongs to the recovery of the jobs. SQLite reports it as a failing disk, not as a full one.
    @Test(arguments: ["fdatasync data/fetchd.sqlite 1 - ENOSPC", "open data/fetchd.sqlite 1 - EDQUOT"])
    func waitsAtStartWhileTheDiskHasNoRoom(_ rule: String) async throws {
        let faults = try await DiskFaults()
        let fetchd = try await FetchdProcess.start(.init(environment: faults.environment))
        try await fetchd.stop()
        try faults.set(rule)
        async let restarted: Void = fetchd.restart()
        _ = try await eventually("two failed tries") { faults.log.count > 1 ? true : nil }
        try faults.heal()
        try await restarted
        #expect(try await fetchd.api.get("/readyz").status == 200)
    }

    /// Changes wait for the lock for a while and are then refused; reads work, and the service recovers by itself.
    @Test func recoversAfterAnotherProcessLockedDatabase() async throws {
        let fetchd = try await FetchdProcess.start()
        #expect(try await submit("before", to: fetchd).status == 201)
        let lock = try await Reader(fetchd.folder.path("data/fetchd.sqlite"), locking: true)
        let refused = try await submit("refused", to: fetchd)
        #expect(refused.status == 503)
        #expect(refused.header("retry-after") != nil)
        #expect(try await count("before", fetchd) == 1)
        #expect(try await fetchd.api.get("/readyz").status == 503)
        async let waiting = submit("waiting", to: fetchd)
        try await lock.end()
        #expect([201, 503].contains(try await waiting.status))
        _ = try await eventually("fetchd to be ready again") {
            try await fetchd.api.get("/readyz").status == 200 ? true : nil
        }
        #expect(try await submit("after", to: fetchd).status == 201)
        #expect(try await count("refused", fetchd) == 0)
    }
}

/// Another process in the middle of a transaction.
private struct Reader {
    private let child: ChildProcess

    init(_ database: String, locking: Bool = false) async throws {
        let program = """
            import signal, sqlite3, sys
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
            db = sqlite3.connect(sys.argv[1], isolation_level=None)
            db.execute(sys.argv[2])
            db.execute('SELECT count(*) FROM jobs').fetchall()
            print('reading', flush=True)
            signal.sigwait([signal.SIGUSR1])
            db.execute('COMMIT')
            db.close()
            """
        child = try await ChildProcess(
            Project.python, ["-c", program, database, locking ? "BEGIN IMMEDIATE" : "BEGIN"])
        let child = child
        _ = try await eventually("the transaction to begin") { child.output.contains("reading") ? true : nil }
    }

    func end() async throws {
        child.signal(SIGUSR1)
        try await child.waitForEnd()
    }
}
