import PostgresClient
import TestKit
import Testing

@Suite(.onItsOwnThread, .enabled(if: PostgresServer.isAvailable))
struct FaultTests {
    private static let sleep = PostgresStatement("SELECT pg_sleep(600)")

    /// The error of a call on another thread, while this one disturbs it.
    private static func failureElsewhere(
        on server: PostgresServer, of body: @Sendable (PostgresConnection) throws -> Void
    ) async throws -> (error: PostgresError?, isOpen: Bool) {
        try await OwnThread.run {
            let connection = try server.connect()
            let error = failure(of: { try body(connection) })
            return (error, connection.isOpen)
        }
    }

    @Test(arguments: [PostgresServer.Stop.immediate, .fast, nil])
    func serverThatEndsDuringAStatementStoresNothing(_ stop: PostgresServer.Stop?) async throws {
        let server = try await PostgresServer()
        try server.connect().run("CREATE TABLE items (id bigint)")
        async let failed = Self.failureElsewhere(on: server) { connection in
            try connection.transaction { transaction in
                try transaction.execute(.init("INSERT INTO items VALUES (1)"))
                try transaction.execute(Self.sleep)
                try transaction.commit()
            }
        }
        try await server.waitUntilSomeone(waitsFor: "PgSleep")
        if let stop { try await server.stop(stop) } else { try await server.kill() }
        let (error, isOpen) = try await failed
        #expect(error?.isConnectionLost == true && !isOpen)
        if stop == .fast { #expect(error?.report?.condition == .connectionEnded) }
        try await server.start()
        #expect(try server.connect().value("SELECT count(*) FROM items") == 0)
    }

    @Test func killDuringTheCommitIsUnknownWhenNothingIsStored() async throws {
        let server = try await PostgresServer()
        try server.connect().execute(
            script: """
                CREATE TABLE items (id bigint);
                CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
                    $$ BEGIN PERFORM pg_sleep(600); RETURN NULL; END $$;
                CREATE CONSTRAINT TRIGGER waits AFTER INSERT ON items DEFERRABLE INITIALLY DEFERRED
                    FOR EACH ROW EXECUTE FUNCTION wait();
                """)
        async let failed = Self.failureElsewhere(on: server) { connection in
            try connection.transaction { transaction in
                try transaction.execute(.init("INSERT INTO items VALUES (1)"))
                try transaction.commit()
            }
        }
        try await server.waitUntilSomeone(waitsFor: "PgSleep")
        try await server.kill()
        let (error, isOpen) = try await failed
        #expect(error?.isOutcomeUnknown == true && !isOpen)
        try await server.start()
        #expect(try server.connect().value("SELECT count(*) FROM items") == 0)
    }

    /// The server has committed and waits for a standby that does not exist. The answer never comes.
    @Test(arguments: ["kill", "terminate", "deadline", "interrupt"])
    func lostAnswerToACommitIsUnknownWhenItIsStored(_ fault: String) async throws {
        let server = try await PostgresServer()
        let administrator = try server.connect()
        try administrator.run("CREATE TABLE items (id bigint)")
        try administrator.run("ALTER SYSTEM SET synchronous_standby_names = 'absent'")
        try administrator.run("SELECT pg_reload_conf()")
        _ = try await eventually("the setting") {
            try administrator.value("SHOW synchronous_standby_names") == "absent" ? true : nil
        }
        let interrupt = try PostgresInterrupt()
        async let failed = OwnThread.run {
            let connection = try server.connect(interrupt: interrupt)
            if fault == "deadline" { connection.deadline = .now + .seconds(5) }
            return failure(of: { try connection.execute(.init("INSERT INTO items VALUES (1)")) })
        }
        try await server.waitUntilSomeone(waitsFor: "SyncRep")
        switch fault {
        case "kill": try await server.kill()
        case "terminate":
            try administrator.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
        case "interrupt": interrupt.interrupt()
        default: break
        }
        #expect(try await failed?.isOutcomeUnknown == true)
        if fault == "kill" {
            try await server.start()
        } else {
            // Until then no other connection sees the row.
            try administrator.run("ALTER SYSTEM RESET synchronous_standby_names")
            try administrator.run("SELECT pg_reload_conf()")
        }
        let observer = try server.connect()
        _ = try await eventually("the row") { try observer.value("SELECT count(*) FROM items") == 1 ? true : nil }
    }

    @Test func pausedServerIsGivenUpAtTheDeadline() async throws {
        let server = try await PostgresServer()
        let connection = try server.connect()
        try connection.run("CREATE TABLE items (id bigint)")
        let error = failure(of: {
            try connection.transaction { transaction in
                try transaction.execute(.init("INSERT INTO items VALUES (1)"))
                server.pause()
                connection.deadline = .now + .milliseconds(300)
                try transaction.execute(.init("INSERT INTO items VALUES (2)"))
            }
        })
        #expect(error == .timedOut)
        #expect(!connection.isOpen)
        #expect(failure(of: { try connection.run("SELECT 1") }) == .closed)
        server.resume()
        #expect(try server.connect().value("SELECT count(*) FROM items") == 0)
    }

    @Test func pausedServerDoesNotHoldANewConnection() async throws {
        let server = try await PostgresServer()
        server.pause()
        defer { server.resume() }
        var options = PostgresConnection.Options()
        options.connectTimeout = .milliseconds(300)
        #expect(failure(of: { _ = try server.connect(options) }) == .timedOut)
    }

    @Test func restartIsNoticedBeforeAnythingIsSent() async throws {
        let server = try await PostgresServer()
        let connection = try server.connect()
        try connection.run("CREATE TABLE items (id bigint)")
        try await server.stop(.fast)
        try await server.start()
        let error = failure(of: { try connection.run("INSERT INTO items VALUES (1)") })
        #expect(error?.isConnectionLost == true)
        #expect(error?.report?.condition == .connectionEnded)
        let next = try server.connect()
        try next.run("INSERT INTO items VALUES (2)")
        #expect(try next.value("SELECT count(*) FROM items") == 1)
    }

    @Test func stoppingServerIsToldFromAnAbsentOne() async throws {
        let server = try await PostgresServer()
        let last = try server.connect()
        async let stopped: Void = server.stop(.smart)
        let error = try await eventually("a refusal") { failure(of: { _ = try server.connect() }) }
        #expect(error.report?.condition == .unavailable && error.report?.sqlState == "57P03")
        last.close()
        try await stopped
        #expect(failure(of: { _ = try server.connect() })?.report?.sqlState == nil)
    }

    @Test func standbyIsRefusedUnlessItIsWanted() async throws {
        let server = try await PostgresServer()
        try server.connect().run("CREATE TABLE items (id bigint)")
        try await server.stop(.fast)
        try server.becomeStandby()
        try await server.start()
        #expect(failure(of: { _ = try server.connect() })?.report?.condition == .readOnly)
        var options = PostgresConnection.Options()
        options.requiresPrimary = false
        let connection = try server.connect(options)
        #expect(try connection.value("SELECT count(*) FROM items") == 0)
        #expect(failure(of: { try connection.run("INSERT INTO items VALUES (1)") })?.report?.condition == .readOnly)
    }

    @Test func tooManyConnectionsAreToldApart() async throws {
        var options = PostgresServer.Options()
        options.settings = ["max_connections = 4", "superuser_reserved_connections = 0", "max_wal_senders = 0"]
        let server = try await PostgresServer(options)
        var connections: [PostgresConnection] = []
        let error = failure(of: { for _ in 0..<5 { connections.append(try server.connect()) } })
        #expect(error?.report?.sqlState == "53300")
        #expect(connections.count == 4)
    }
}
