import PostgresClient
import TestKit
import Testing

@testable import Storage
@testable import StoragePostgres

struct PostgresServerSettingsTests {
    private static let good = [
        "server_encoding": "UTF8", "fsync": "on", "full_page_writes": "on", "synchronous_commit": "on",
        "synchronous_standby_names": "",
    ]

    @Test(arguments: [
        [:], ["synchronous_commit": "local"], ["synchronous_commit": "remote_apply", "synchronous_standby_names": "b"],
        ["synchronous_commit": "remote_write"],
    ])
    func durableServerIsAccepted(_ changes: [String: String]) {
        #expect(PostgresServerSettings(Self.good.merging(changes) { $1 }).fault == nil)
    }

    @Test(arguments: [
        (["server_encoding": "SQL_ASCII"], "SQL_ASCII"), (["fsync": "off"], "fsync"),
        (["full_page_writes": "off"], "full_page_writes"), (["synchronous_commit": "off"], "synchronous_commit"),
        (["synchronous_commit": "local", "synchronous_standby_names": "b"], "standby"),
    ])
    func otherServerIsRefusedWithTheSetting(_ changes: [String: String], _ named: String) {
        #expect(PostgresServerSettings(Self.good.merging(changes) { $1 }).fault?.contains(named) == true)
    }

    @Test func allFaultsAreNamed() {
        let fault = PostgresServerSettings([:]).fault ?? ""
        for name in ["encoding", "fsync", "full_page_writes", "synchronous_commit"] { #expect(fault.contains(name)) }
    }
}

@Suite(.onItsOwnThread, .enabled(if: PostgresServer.isAvailable), .sharedPostgresServer)
struct ReadServerSettingsTests {
    @Test func settingsAreThoseOfTheServer() async throws {
        let target = try PostgresTarget(url: PostgresServer.shared.socketURL)
        let settings = try PostgresServerSettings(of: PostgresConnection(to: target))
        #expect(settings.values["fsync"] == "off" && settings.values["server_encoding"] == "UTF8")
        #expect(settings.values.count == 5)
    }
}
