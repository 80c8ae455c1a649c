import PostgresClient
import TestKit
import Testing

/// Values without a type: the server takes it from the statement.
@Suite(.onItsOwnThread, .enabled(if: PostgresServer.isAvailable), .sharedPostgresServer)
struct InferredValueTests {
    @Test func typesComeFromTheColumns() async throws {
        let connection = try PostgresServer.shared.connect()
        try connection.run("CREATE TEMPORARY TABLE all_types (i bigint, d double precision, t text, b bytea)")
        let insert = "INSERT INTO all_types (i, d, t, b) VALUES ($1, $2, $3, $4), ($5, $6, $7, $8)"
        let values = ["-9223372036854775808", "0.1", "'ä' \u{1F600}", "\\x00ff", nil, nil, nil, nil]
        try connection.execute(.init(insert, values.map(PostgresValue.inferred)))
        let rows = try connection.execute(.init("SELECT i, d, t, b FROM all_types ORDER BY i NULLS LAST"))
        #expect(try rows[0].value(0) == Int64.min)
        #expect(try rows[0].value(1) == 0.1)
        #expect(try rows[0].value(2) == "'ä' \u{1F600}")
        #expect(try rows[0].value(3) == [0, 255] as [UInt8])
        #expect(try rows[1].optional(0, as: Int.self) == nil && rows[1].optional(3, as: [UInt8].self) == nil)
    }

    @Test func nullIsPreparedAsTheSameStatement() async throws {
        let connection = try PostgresServer.shared.connect()
        for value in ["1", nil, "2"] {
            try connection.execute(.init("SELECT 1 WHERE $1 = 1::bigint", [.inferred(value)]))
        }
        #expect(
            try connection.value("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%$1 = 1%'") == 1)
    }

    @Test func textWithNULIsRefused() async throws {
        let connection = try PostgresServer.shared.connect()
        guard
            case .parameterInvalid = failure(of: {
                try connection.execute(.init("SELECT $1::text", [.inferred("a\0b")]))
            })
        else {
            Issue.record("a NUL was sent")
            return
        }
    }

    @Test(arguments: [
        ("0", 0), ("1", 1), ("-1", -1), ("9999", 9999), ("10000", 10_000), ("-20000", -20_000),
        ("123456789", 123_456_789),
        ("9223372036854775807", Int64.max), ("-9223372036854775808", Int64.min), ("1.000", 1), ("0.5", nil),
        ("10000.1", nil), ("9223372036854775808", nil), ("-9223372036854775809", nil), ("1e30", nil), ("NaN", nil),
        ("100000000000000000000", nil),
    ])
    func wholeNumbersAreRead(_ text: String, _ number: Int64?) async throws {
        let row = try PostgresServer.shared.connect().execute(.init("SELECT $1::numeric", [.inferred(text)]))[0]
        #expect((try? row.value(0, as: Int64.self)) == number)
    }

    @Test func truthIsReadFromIntegers() async throws {
        let row = try PostgresServer.shared.connect().execute(
            .init("SELECT 0::bigint, 1::bigint, 2::bigint, 3::bigint"))[0]
        #expect(try row.value(0) == false)
        #expect(try row.value(1) == true)
        #expect((try? row.value(2, as: Bool.self)) == nil)
        #expect(try row.value(3) == 3.0)
    }
}
