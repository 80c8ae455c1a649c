import TestKit
import Testing

@testable import PostgresClient

@Suite(.onItsOwnThread, .enabled(if: PostgresServer.isAvailable), .sharedPostgresServer)
struct NotificationTests {
    @Test func notificationOfAnotherConnectionArrives() async throws {
        let server = try PostgresServer.shared
        let (listener, sender) = (try server.connect(), try server.connect())
        try listener.run("LISTEN arrivals")
        try sender.transaction { transaction in
            try transaction.commit(with: [
                .init("NOTIFY arrivals"), .init("SELECT pg_notify('arrivals', $1)", [.text("a b")]),
            ])
        }
        var received: [PostgresNotification] = []
        while received.count < 2 { received += try listener.waitForNotifications(atMost: .seconds(30)) }
        #expect(received == [.init(channel: "arrivals"), .init(channel: "arrivals", payload: "a b")])
        #expect(try listener.waitForNotifications(atMost: .milliseconds(1)).isEmpty)
    }

    @Test func notificationsDuringOtherCallsAreKeptOnce() async throws {
        let server = try PostgresServer.shared
        let (listener, sender) = (try server.connect(), try server.connect())
        try listener.run("LISTEN kept")
        for _ in 0..<50 {
            try sender.run("NOTIFY kept")
            try listener.run("SELECT 1")
        }
        // What is still on its way comes before the answer.
        try listener.run("NOTIFY kept, 'last'")
        var received: [PostgresNotification] = []
        while received.last?.payload != "last" { received += try listener.waitForNotifications(atMost: .seconds(30)) }
        #expect(received == [.init(channel: "kept"), .init(channel: "kept", payload: "last")])
    }

    @Test func floodOfNotificationsIsCutOff() async throws {
        let server = try PostgresServer.shared
        let (listener, sender) = (try server.connect(), try server.connect())
        try listener.run("LISTEN flood")
        try sender.run(
            "SELECT count(*) FROM (SELECT pg_notify('flood', i::text) FROM generate_series(1, 30000) AS i) AS sent")
        try listener.run("NOTIFY flood, '1'")
        let received = try listener.waitForNotifications(atMost: .seconds(30))
        #expect(!received.isEmpty && received.count <= 10_000)
        #expect(try listener.value("SELECT 1") == 1)
    }

    @Test func floodOfNoticesDoesNoHarm() async throws {
        let connection = try PostgresServer.shared.connect()
        try connection.run("DO $$ BEGIN FOR i IN 1..20000 LOOP RAISE WARNING 'notice %', i; END LOOP; END $$")
        #expect(try connection.value("SELECT 1") == 1)
    }

    @Test func lostConnectionIsNoticed() async throws {
        let server = try PostgresServer.shared
        let (listener, other) = (try server.connect(), try server.connect())
        let process: Int64 = try listener.value("SELECT pg_backend_pid()")
        try other.execute(.init("SELECT pg_terminate_backend($1::integer)", [.int8(process)]))
        let error = failure(of: { while true { _ = try listener.waitForNotifications(atMost: .seconds(30)) } })
        #expect(error?.isConnectionLost == true && error?.report?.condition == .connectionEnded)
    }

    @Test func interruptLeavesTheConnectionOpen() async throws {
        let interrupt = try PostgresInterrupt()
        let connection = try PostgresServer.shared.connect(interrupt: interrupt)
        interrupt.interrupt()
        #expect(failure(of: { _ = try connection.waitForNotifications(atMost: .seconds(30)) }) == .interrupted)
        #expect(connection.isOpen)
    }
}
