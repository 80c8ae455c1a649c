import Downloads
import Foundation
import TestKit
import Testing

/// A data folder with lost or damaged files, and how to restore it.
@Suite struct DataFolderTests {
    private func serve(_ folder: TemporaryFolder) async throws -> ChildProcess.Outcome {
        try await FetchdProcess.run([
            "serve", "--listen", "127.0.0.1:0", "--data-dir", folder.path("data"), "--downloads-dir",
            folder.path("downloads"),
        ])
    }

    private func restore(_ file: String, _ folder: TemporaryFolder) async throws -> ChildProcess.Outcome {
        try await FetchdProcess.run(["restore", file, "--data-dir", folder.path("data")])
    }

    /// - Returns: a killed service with a paused job that has bytes.
    private func killed(_ faults: FetchdProcess.Options = .init()) async throws -> (FetchdProcess, Origin, String) {
        let (fetchd, origin) = (try await FetchdProcess.start(faults), try Origin())
        origin.serve("/file", .file(Content.random(seed: 4, count: 3_000_000)), .limited(bytesPerSecond: 200_000))
        let id = try await fetchd.api.submit(["url": .string(origin.url("/file"))])
        try await fetchd.api.waitForBytes(id, durable: true)
        try await fetchd.api.act(.pause, on: id)
        try await fetchd.kill()
        return (fetchd, origin, id)
    }

    private func parts(_ folder: TemporaryFolder) -> [String] { folder.files.filter { $0.hasSuffix(".part") } }

    @Test(.onSQLite) func restoresCopyOfDatabaseFileAfterCleanStop() async throws {
        let fetchd = try await FetchdProcess.start()
        let id = try await fetchd.api.submit(["url": "http://127.0.0.1:1/"])
        #expect(try await fetchd.terminate() == .exited(0))
        #expect(Set(fetchd.folder.files) == ["data/fetchd.key", "data/fetchd.mark", "data/fetchd.sqlite", "data/lock"])
        let other = try TemporaryFolder()
        let outcome = try await restore(fetchd.folder.path("data/fetchd.sqlite"), other)
        #expect(outcome.succeeded, "\(outcome.errors)")
        let restored = try await FetchdProcess.start(in: other)
        #expect(try await restored.api.get("/v1/jobs/\(id)").status == 200)
    }

    @Test(.onSQLite, arguments: ["missing", "emptied", "damaged"])
    func refusesToStartWhenTheLogIsLost(_ damage: String) async throws {
        let (fetchd, _, id) = try await killed()
        let log = fetchd.folder.path("data/fetchd.sqlite-wal")
        let bytes = try #require(fetchd.folder.bytes(of: "data/fetchd.sqlite-wal"))
        switch damage {
        case "missing": try FileManager.default.removeItem(atPath: log)
        case "emptied": try Data().write(to: URL(filePath: log))
        default: try Data(bytes.enumerated().map { $0 == 20 ? $1 ^ 1 : $1 }).write(to: URL(filePath: log))
        }
        let before = parts(fetchd.folder)
        let refused = try await serve(fetchd.folder)
        #expect(refused.ending == .exited(1))
        #expect(refused.errors.contains("fetchd.sqlite-wal is "), "\(refused.errors)")
        #expect(refused.errors.contains("fetchd restore FILE"))
        #expect(parts(fetchd.folder) == before && before.count == 1)
        // The log is put back.
        try Data(bytes).write(to: URL(filePath: log))
        try await fetchd.restart()
        #expect(try await fetchd.api.waitForJob(id, .paused)["progress"]["bytes_durable"].integer ?? 0 > 0)
    }

    @Test(.onSQLite) func keepsPartsOfReplacedDatabaseAfterRestore() async throws {
        let (fetchd, _, id) = try await killed()
        let before = parts(fetchd.folder)
        let other = try await FetchdProcess.start()
        try await other.terminate()
        let outcome = try await restore(other.folder.path("data/fetchd.sqlite"), fetchd.folder)
        #expect(outcome.succeeded, "\(outcome.errors)")
        // Each database needs its own key.
        let keys = try FileHandle(forWritingTo: URL(filePath: fetchd.folder.path("data/fetchd.key")))
        try keys.seekToEnd()
        try keys.write(contentsOf: Data(try #require(other.folder.bytes(of: "data/fetchd.key"))))
        try keys.close()
        #expect(outcome.output.contains("is kept as \(fetchd.folder.path("data/fetchd.sqlite")).replaced-"))
        // At every start, not only at the first.
        for _ in 0..<2 {
            try await fetchd.restart()
            #expect(fetchd.log.contains("1 part files in .incomplete of the downloads folder"), "\(fetchd.log)")
            #expect(parts(fetchd.folder) == before)
            try await fetchd.terminate()
        }
        // Restoring the replaced database brings the job's bytes back.
        let replaced = try #require(fetchd.folder.files.first { $0.contains(".replaced-") && !$0.hasSuffix("-wal") })
        #expect(try await restore(fetchd.folder.path(replaced), fetchd.folder).succeeded)
        try await fetchd.restart()
        #expect(try await fetchd.api.waitForJob(id, .paused)["progress"]["bytes_durable"].integer ?? 0 > 0)
        #expect(parts(fetchd.folder) == before)
    }

    /// A webhook consumer never sees one event number with two meanings.
    @Test(.onSQLite) func continuesWithEventNumbersAboveAllEarlierOnes() async throws {
        let fetchd = try await FetchdProcess.start()
        _ = try await fetchd.api.submit(["url": "http://127.0.0.1:1/", "not_before": "2090-01-01T00:00:00Z"])
        try await fetchd.terminate()
        let copy = try TemporaryFolder()
        try FileManager.default.copyItem(
            atPath: fetchd.folder.path("data/fetchd.sqlite"), toPath: copy.path("copy.sqlite"))
        try await fetchd.restart()
        for _ in 0..<5 {
            _ = try await fetchd.api.submit(["url": "http://127.0.0.1:1/", "not_before": "2090-01-01T00:00:00Z"])
        }
        let last = try #require(try await fetchd.api.get("/v1/events").json["next_after"].integer)
        let refused = try await restore(copy.path("copy.sqlite"), fetchd.folder)
        #expect(refused.ending == .exited(1))
        #expect(refused.errors.contains("belongs to another fetchd that is running"))
        try await fetchd.kill()
        #expect(try await restore(copy.path("copy.sqlite"), fetchd.folder).succeeded)
        try await fetchd.restart()
        #expect(try await fetchd.api.get("/v1/jobs").json["jobs"].arrayValue?.count == 1)
        _ = try await fetchd.api.submit(["url": "http://127.0.0.1:1/", "not_before": "2090-01-01T00:00:00Z"])
        let events = try await fetchd.api.get("/v1/events?after=\(last)").json["events"].arrayValue ?? []
        #expect(events.count == 1)
        #expect((events.first?["id"].integer ?? 0) > last)
    }

    @Test func refusesToRestoreFileThatIsNoDatabase() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("This is no database.", to: "file")
        let refused = try await restore(file, folder)
        #expect(refused.ending == .exited(1))
        #expect(refused.errors.contains("\(file) cannot be restored: "))
        #expect(refused.errors.contains("Nothing was changed."))
    }

    /// The process dies at any call while it creates its folder; the next start succeeds.
    @Test func startsOnFolderThatCrashLeftHalfMade() async throws {
        let faults = try await DiskFaults()
        // Of some two hundred calls, those at the beginning and a sample of the rest.
        for call in [1, 2, 3, 4, 5, 6, 8, 11, 15, 20, 27, 36, 48, 64, 85, 113, 150, 200, 267, 356, 475] {
            try faults.set(
                "open,mkdir,pwrite64,write,fsync,fdatasync,ftruncate,renameat2,unlink /data \(call) \(call) KILL")
            let folder = try TemporaryFolder()
            let child = try await ChildProcess(
                FetchdProcess.program,
                [
                    "serve", "--listen", "127.0.0.1:0", "--data-dir", folder.path("data"), "--downloads-dir",
                    folder.path("downloads"),
                ], environment: faults.environment)
            _ = try await eventually("fetchd to be ready, or killed") {
                child.endingSoFar != nil || child.errors.contains("is ready at") ? true : nil
            }
            if child.endingSoFar == nil {
                #expect(call > 20)
                break
            }
            try faults.heal()
            let fetchd = try await FetchdProcess.start(in: folder)
            let id = try await fetchd.api.submit(["url": "http://127.0.0.1:1/"])
            try await fetchd.kill()
            try await fetchd.restart()
            #expect(try await fetchd.api.get("/v1/jobs/\(id)").status == 200, "call \(call)")
        }
    }

    /// The service runs without the right to change permissions of files of other users, and a folder of another user is
    /// open to all.
    @Test(.enabled(if: getuid() == 0, "needs a folder of another user"))
    func refusesAFolderThatOthersCanReadAndItCannotMakePrivate() async throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path("data"), withIntermediateDirectories: true)
        chmod(folder.path("data"), 0o777)
        chown(folder.path("data"), 65534, 65534)
        let refused = try await ChildProcess.run(
            "setpriv",
            [
                "--bounding-set=-fowner", "--inh-caps=-fowner", FetchdProcess.program, "serve", "--listen",
                "127.0.0.1:0", "--data-dir", folder.path("data"), "--downloads-dir", folder.path("downloads"),
            ])
        #expect(refused.ending == .exited(1))
        #expect(refused.errors.contains("Other users have permissions on the data folder"), "\(refused.errors)")
        #expect(!folder.files.contains("data/fetchd.sqlite"))
    }
}
