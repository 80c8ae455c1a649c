import TestKit
import Testing

@testable import PostgresClient

@Suite(.onItsOwnThread)
struct TargetTests {
    @Test(arguments: [
        "postgres://fetchd:top%20secret@db:6000/jobs?sslmode=require",
        "postgresql://fetchd@db:6000/jobs?password=top%20secret",
    ])
    func descriptionShowsNoPassword(_ url: String) throws {
        #expect(try PostgresTarget(url: url).description == "fetchd@db:6000/jobs")
        #expect(try !"\(PostgresTarget(url: url))".contains("secret"))
    }

    @Test(arguments: [
        "", "db", "host=db password=secret", "mysql://fetchd:secret@db/jobs", "postgres://fetchd:sec%zzret@db",
        "postgres://fetchd:secret@db?secret=1", "postgres://fetchd:secret@[db", "postgres://fetchd:secret@db?sslmode",
        "postgres://fetchd:secret\0@db", "postgres://fetchd:top@secret@db/jobs", "postgres://fetchd:top/secret@db/jobs",
        "postgres://db:secret/jobs", "postgres://fetchd:secret@a,b,c:1,2/jobs?port=1,2",
    ])
    func invalidURLIsRefusedWithoutItsSecrets(_ url: String) {
        guard case .targetInvalid(let why) = failure(of: { _ = try PostgresTarget(url: url) }) else {
            Issue.record("\(url) was accepted")
            return
        }
        #expect(!why.isEmpty)
        #expect(!why.contains("sec") && !why.contains("ret@"))
    }

    @Test(arguments: ["99999", "0", "1,99999"]) func portOutOfRangeIsRefused(_ port: String) {
        let error = failure(of: { _ = try PostgresTarget(url: "postgres://a,b/jobs?port=\(port)") })
        let number = port.split(separator: ",").last ?? ""
        #expect(error == .targetInvalid(why: "a port is a number from 1 to 65535, not \(number)"))
    }

    /// Of libpq 15.
    @Test(arguments: [
        ("server certificate for \"a\" does not match host name \"b\"", PostgresCondition.accessRefused),
        ("SSL error: certificate verify failed", .accessRefused),
        ("server does not support SSL, but SSL was required", .accessRefused),
        ("host name must be specified for a verified SSL connection", .accessRefused),
        ("root certificate file \"/ca.pem\" does not exist", .accessRefused),
        ("SSL error: tlsv1 alert unknown ca", .accessRefused),
        ("Connection refused", .unavailable),
        ("connection to server on socket \"/certificates/.s.PGSQL.5432\" failed: Connection refused", .unavailable),
        ("SSL SYSCALL error: EOF detected", .unavailable),
        ("could not translate host name \"db\" to address: Name or service not known", .unavailable),
    ]) func refusalOfLibpqHasACondition(_ message: String, _ condition: PostgresCondition) {
        #expect(PostgresCondition(refusal: message) == condition)
    }

    @Test func refusedConnectionNamesTheServer() throws {
        let target = try PostgresTarget(url: "postgres://fetchd:secret@127.0.0.1:1/jobs")
        let error = failure(of: { _ = try PostgresConnection(to: target) })
        guard case .connectFailed(let report) = error else {
            Issue.record("connected: \(String(describing: error))")
            return
        }
        #expect(report.condition == .unavailable)
        #expect(report.message.contains("127.0.0.1") && !report.message.contains("secret"))
    }

    @Test func serverThatDoesNotAnswerIsGivenUp() throws {
        let port = try UnresponsivePort()
        var options = PostgresConnection.Options()
        options.connectTimeout = .milliseconds(200)
        let target = try PostgresTarget(url: "postgres://fetchd@127.0.0.1:\(port.number)/jobs")
        #expect(failure(of: { _ = try PostgresConnection(to: target, options: options) }) == .timedOut)
    }

    /// The thread that renews a lease cannot wait for as long as the user of the URL wants to.
    @Test func limitIsStrongerThanTheTimeoutOfTheURL() throws {
        let ports = [try UnresponsivePort(), try UnresponsivePort()]
        var options = PostgresConnection.Options()
        options.connectLimit = .milliseconds(400)
        let hosts = ports.map { "127.0.0.1:\($0.number)" }.joined(separator: ",")
        let target = try PostgresTarget(url: "postgres://fetchd@\(hosts)/jobs?connect_timeout=30")
        let start = ContinuousClock.now
        #expect(failure(of: { _ = try PostgresConnection(to: target, options: options) }) == .timedOut)
        let elapsed = ContinuousClock.now - start
        #expect(elapsed >= .milliseconds(400) && elapsed < .seconds(30))
    }
}
