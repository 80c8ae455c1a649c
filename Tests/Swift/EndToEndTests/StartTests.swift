import Daemon
import Foundation
import TestKit
import Testing

/// Starts that must fail: one sentence says what to change, the exit status says why, and no data is changed.
@Suite struct StartTests {
    /// The environment prevents the start: 1.
    private let failure = ChildProcess.Ending.exited(1)
    /// An argument is invalid: EX_USAGE.
    private let misuse = ChildProcess.Ending.exited(64)

    private func serve(
        _ folder: TemporaryFolder, _ arguments: [String] = [], environment: [String: String] = [:]
    ) async throws -> ChildProcess.Outcome {
        try await FetchdProcess.run(
            [
                "serve", "--listen", "127.0.0.1:0", "--data-dir", folder.path("data"), "--downloads-dir",
                folder.path("downloads"),
            ] + arguments, environment: environment)
    }

    // MARK: Environment

    @Test func refusesOccupiedPort() async throws {
        let (first, folder) = (try await FetchdProcess.start(), try TemporaryFolder())
        let second = try await serve(folder, ["--listen", "127.0.0.1:\(first.port)"])
        #expect(second.ending == failure)
        #expect(second.errors.contains("127.0.0.1 port \(first.port) is in use by another process"))
        #expect(try await first.api.get("/readyz").status == 200)
    }

    @Test func refusesDataFolderOfRunningService() async throws {
        let first = try await FetchdProcess.start()
        let id = try await first.api.submit(["url": "http://127.0.0.1:1/"])
        let second = try await serve(first.folder)
        #expect(second.ending == failure)
        #expect(second.errors.contains("belongs to another fetchd that is running"))
        #expect(second.errors.contains("--data-dir"))
        #expect(try await first.api.get("/v1/jobs/\(id)").status == 200)
        // A kill of the first service frees its folder.
        try await first.kill()
        try await first.restart()
        #expect(try await first.api.get("/v1/jobs/\(id)").status == 200)
    }

    /// The second service would remove the parts of the first one.
    @Test func refusesDownloadsFolderOfRunningService() async throws {
        let first = try await LocalService.start()
        let downloads = first.folder.path("downloads")
        let error = await #expect(throws: StartError.self) {
            _ = try await LocalService.start(.init { $0.downloadsFolder = downloads })
        }
        #expect(error?.description.contains("belongs to another fetchd that is running") == true)
        #expect(error?.description.contains("--downloads-dir") == true)
        try await first.stop()
        let second = try await LocalService.start(.init { $0.downloadsFolder = downloads })
        #expect(try await second.api.get("/readyz").status == 200)
    }

    @Test(arguments: ["--data-dir", "--downloads-dir"])
    func refusesUnusableFolder(_ option: String) async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("not a folder", to: "file")
        for path in ["\(file)/below", file, "/proc/fetchd"] {
            let outcome = try await serve(folder, [option, path])
            #expect(outcome.ending == failure, "\(path)")
            #expect(outcome.errors.contains("folder \(path) cannot be used: "), "\(outcome.errors)")
        }
        #expect(folder.bytes(of: "file") == Array("not a folder".utf8))
    }

    @Test(.onSQLite) func refusesDatabaseOfNewerVersionUnchanged() async throws {
        let fetchd = try await FetchdProcess.start()
        let id = try await fetchd.api.submit(["url": "http://127.0.0.1:1/"])
        try await fetchd.terminate()
        try await change(fetchd.folder, "INSERT INTO grdb_migrations VALUES ('9999: from tomorrow')")
        let refused = try await serve(fetchd.folder)
        #expect(refused.ending == failure)
        #expect(refused.errors.contains("a newer fetchd has written it"))
        // The database is unchanged: the newer version can still use it.
        try await change(fetchd.folder, "DELETE FROM grdb_migrations WHERE identifier LIKE '9999:%'")
        try await fetchd.restart()
        #expect(try await fetchd.api.get("/v1/jobs/\(id)").status == 200)
    }

    @Test func refusesDamagedDatabaseUnchanged() async throws {
        for damage in ["This is no database, however long it may be.", String(repeating: "\u{7}", count: 100_000)] {
            let folder = try TemporaryFolder()
            try folder.write(damage, to: "data/fetchd.sqlite")
            let refused = try await serve(folder)
            #expect(refused.ending == failure)
            #expect(refused.errors.contains("fetchd.sqlite cannot be read"), "\(refused.errors)")
            #expect(folder.bytes(of: "data/fetchd.sqlite") == Array(damage.utf8))
        }
    }

    /// Changes the database with SQLite itself, as any other program could.
    private func change(_ folder: TemporaryFolder, _ sql: String) async throws {
        let program = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute(sys.argv[2]); db.commit()"
        let outcome = try await ChildProcess.run(
            Project.python, ["-c", program, folder.path("data/fetchd.sqlite"), sql])
        #expect(outcome.succeeded, "\(outcome.errors)")
    }

    // MARK: The token

    @Test(arguments: ["0.0.0.0:0", "[::]:0"])
    func refusesPublicAddressWithoutToken(_ listen: String) async throws {
        let folder = try TemporaryFolder()
        let refused = try await serve(folder, ["--listen", listen])
        #expect(refused.ending == misuse)
        #expect(refused.errors.contains("Set FETCHD_TOKEN, or listen on a loopback address."))
        #expect(folder.files.isEmpty)
        let fetchd = try await FetchdProcess.start(.init(arguments: ["--listen", listen], token: "secret"))
        #expect(try await fetchd.api.get("/v1/jobs").status == 200)
        #expect(try await APIClient(baseURL: fetchd.baseURL).get("/v1/jobs").status == 401)
    }

    @Test func administratorsTokenOfTheDatabaseAllowsPublicAddress() async throws {
        let folder = try TemporaryFolder()
        let local = try await FetchdProcess.start(.init(), in: folder)
        let token = try #require(try await local.api.createToken("admin")["token"].string)
        try await local.stop()
        let open = try await FetchdProcess.start(.init(arguments: ["--listen", "0.0.0.0:0"]), in: folder)
        let client = APIClient(baseURL: open.baseURL, token: token)
        #expect(try await client.get("/v1/jobs").status == 200)
        // Here, no caller is trusted for its address, also without any token.
        for listed in try await client.get("/v1/tokens").json["tokens"].arrayValue ?? [] {
            #expect(try await client.delete("/v1/tokens/\(listed["id"].string ?? "")").status == 204)
        }
        #expect(try await APIClient(baseURL: open.baseURL).get("/v1/jobs").status == 401)
        try await open.stop()
        let refused = try await serve(folder, ["--listen", "0.0.0.0:0"])
        #expect(refused.ending == misuse)
        #expect(refused.errors.contains("Set FETCHD_TOKEN, or listen on a loopback address."))
    }

    /// No client could send such a token; for example one read from a file with its newline.
    @Test(arguments: ["", "two words", "line\n", "schlüssel"])
    func refusesTokenThatNoHeaderCanCarry(_ token: String) async throws {
        let folder = try TemporaryFolder()
        let refused = try await serve(folder, environment: ["FETCHD_TOKEN": token])
        #expect(refused.ending == misuse)
        let message = token.isEmpty ? "The token is empty." : "The token must be visible ASCII characters"
        #expect(refused.errors.contains(message), "\(refused.errors)")
        #expect(folder.files.isEmpty)
    }

    // MARK: Values

    private static let mistakes: [(option: String, value: String, message: String)] = [
        ("listen", "8080", "HOST:PORT"), ("listen", "127.0.0.1", "HOST:PORT"),
        ("listen", "127.0.0.1:70000", "HOST:PORT"),
        ("listen", "example.org:80", "'example.org' is not an IP address"), ("data-dir", "", "data-dir"),
        ("downloads-dir", "", "downloads-dir"),
        ("max-concurrent-jobs", "0", "max_concurrent_jobs is 0; it must be a whole number from 1 to 10000"),
        ("max-concurrent-jobs", "many", "max"), ("max-connections-per-host", "10001", "from 1 to 10000"),
        ("allow-network", "10.0.0.0/33", "allow_network contains '10.0.0.0/33'"),
        ("allow-network", "localhost", "allow_network contains 'localhost'"),
        ("deny-network", "10.0.0.0/33", "deny_network contains '10.0.0.0/33'"),
        ("allow-webhook-network", "localhost", "allow_webhook_network contains 'localhost'"),
        ("allow-origin-host", "http://a.example", "allow_origin_host contains 'http://a.example'; it takes host names"),
        ("deny-origin-host", "*", "deny_origin_host contains '*'"),
        ("allow-origin-port", "0", "allow_origin_port contains '0'"),
        ("allow-origin-port", "80-79", "it takes ports from 1 to 65535, such as 443 or 8000-8999"),
        ("file-mode", "0400", "file_mode is '0400'"), ("file-mode", "9", "as an octal number from 0 to 0777"),
        ("directory-mode", "0600", "fetchd must be able to use its folders (0700)"), ("max-file-size", "-1", "max"),
        ("max-parts", "many", "max"),
        ("allow-origin", "http://a.example/app", "allow_origin contains 'http://a.example/app'"),
        ("allow-origin", "localhost:9000", "such as https://downloads.example or http://localhost:9000"),
        ("allow-origin", "*", "allow_origin * without a token"),
        ("trusted-proxy", "localhost", "trusted_proxy contains 'localhost'; it takes networks"),
        ("event-retention", "long", "must be a time such as 90, 90s, 15m, 8h or 30d"),
        ("rate-limit-bytes-per-second", "2Ti", "it must be a number of bytes such as 500000, 500K or 2Gi, from 0 to"),
        ("webhook-retry-delays", "0,soon", "webhook_retry_delays contains 'soon'"),
        ("webhook-retry-delays", "0,-1", "webhook_retry_delays contains '-1'"),
        ("log-level", "loud", "log_level is 'loud'; it must be one of trace, debug, info"),
    ]

    @Test(arguments: mistakes.indices)
    func refusesInvalidOptionValue(_ index: Int) async throws {
        let (option, value, message) = Self.mistakes[index]
        let folder = try TemporaryFolder()
        let byOption = try await serve(folder, ["--\(option)=\(value)"])
        #expect(byOption.ending == misuse)
        #expect(byOption.errors.contains(message), "\(byOption.errors)")

        // The same value from the environment, without an option that overrides it.
        let name = "FETCHD_" + option.uppercased().replacing("-", with: "_")
        let byEnvironment = try await FetchdProcess.run(
            ["serve"], environment: [name: value], workingFolder: folder.path)
        #expect(byEnvironment.ending == misuse)
        #expect(byEnvironment.errors.contains(option.replacing("-", with: "_")), "\(byEnvironment.errors)")
        #expect(folder.files.isEmpty)
    }

    @Test func refusesUnknownOptionsAndArguments() async throws {
        for arguments in [["serve", "--colour", "blue"], ["serve", "now"], ["dance"], ["serve", "--listen"]] {
            let outcome = try await FetchdProcess.run(arguments)
            #expect(outcome.ending == misuse, "\(arguments)")
            #expect(outcome.errors.hasPrefix("Error: "))
        }
    }
}
