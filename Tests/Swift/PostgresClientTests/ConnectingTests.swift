import PostgresClient
import TestKit
import Testing

@Suite(.onItsOwnThread, .enabled(if: PostgresServer.isAvailable), .sharedPostgresServer)
struct ConnectingTests {
    @Test func nextHostIsTried() async throws {
        let (server, port) = (try PostgresServer.shared, try UnresponsivePort())
        var options = PostgresConnection.Options()
        // It applies to the last host, too.
        options.connectTimeout = .seconds(5)
        let hosts = "127.0.0.1:1,127.0.0.1:\(port.number),127.0.0.1:\(server.port)"
        let target = try PostgresTarget(url: "postgres://fetchd@\(hosts)/postgres")
        let connection = try PostgresConnection(to: target, options: options)
        #expect(try connection.value("SELECT inet_server_port()") == Int64(server.port))
    }

    @Test func settingsOfTheSessionApply() async throws {
        let server = try PostgresServer.shared
        var options = PostgresConnection.Options()
        options.settings["lock_timeout"] = "1234"
        let target = try PostgresTarget(url: server.url("application_name=tests"))
        let connection = try PostgresConnection(to: target, options: options)
        #expect(try connection.value("SHOW lock_timeout") == "1234ms")
        #expect(try connection.value("SHOW client_connection_check_interval") == "1s")
        #expect(try connection.value("SHOW application_name") == "tests")
        #expect(try server.connect().value("SHOW application_name") == "fetchd")
        options.settings["no_such_setting"] = "1"
        #expect(failure(of: { _ = try server.connect(options) })?.report?.condition == .unknownObject)
    }

    @Test func wrongPasswordIsRefusedWithoutShowingIt() async throws {
        var options = PostgresServer.Options()
        options.password = "open-sesame"
        let server = try await PostgresServer(options)
        #expect(try PostgresConnection(to: PostgresTarget(url: server.url())).value("SELECT 1") == 1)
        let wrong = server.url().replacing("open-sesame", with: "shut-sesame")
        let error = failure(of: { _ = try PostgresConnection(to: PostgresTarget(url: wrong)) })
        guard case .connectFailed(let report) = error else {
            Issue.record("connected: \(String(describing: error))")
            return
        }
        #expect(report.condition == .accessRefused && report.sqlState == "28P01")
        #expect(!"\(report)".contains("sesame"))
    }

    @Test func sslmodeIsRespected() async throws {
        let plain = try PostgresServer.shared
        let unencrypted = failure(of: {
            _ = try PostgresConnection(to: PostgresTarget(url: plain.url("sslmode=require")))
        })
        #expect(unencrypted?.report?.condition == .accessRefused)
        let authority = try await CertificateAuthority()
        var options = PostgresServer.Options()
        options.certificate = try await authority.issue(to: "localhost")
        let server = try await PostgresServer(options)
        let verified = server.url(
            "sslmode=verify-full&sslrootcert=\(authority.caFile)&host=localhost&hostaddr=127.0.0.1")
        let connection = try PostgresConnection(to: PostgresTarget(url: verified))
        #expect(try connection.value("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()") == true)
        let text = String(repeating: "x", count: 1 << 20)
        let results = try connection.execute((0..<20).map { _ in PostgresStatement("SELECT $1", [.text(text)]) })
        #expect(try results.allSatisfy { try $0[0].value(0) == text })
        let wrongName = server.url("sslmode=verify-full&sslrootcert=\(authority.caFile)")
        let refused = failure(of: { _ = try PostgresConnection(to: PostgresTarget(url: wrongName)) })
        #expect(refused?.report?.condition == .accessRefused)
    }
}
