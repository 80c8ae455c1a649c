import PostgresClient
import TestKit
import Testing

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
        "postgres://fetchd:secret\0@db", "postgres://fetchd:secret@a,b,c:1,2/jobs?port=1,2",
    ])
    func invalidURLIsRefusedWithoutItsSecrets(_ url: String) {
        guard case .targetInvalid(let why) = failure(of: { _ = try PostgresTarget(url: url) }) else {
            Issue.record("\(url) was accepted")
            return
        }
        #expect(!why.isEmpty)
        #expect(!why.contains("sec") && !why.contains("ret@"))
    }

    @Test func refusedConnectionNamesTheServer() throws {
        let target = try PostgresTarget(url: "postgres://fetchd:secret@127.0.0.1:1/jobs")
        let error = failure(of: { _ = try PostgresConnection(to: target) })
        guard case .connectFailed(let report) = error else {
            Issue.record("connected: \(String(describing: error))")
            return
        }
        #expect(report.condition == .unreachable)
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
