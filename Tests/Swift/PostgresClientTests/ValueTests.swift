import PostgresClient
import TestKit
import Testing

@Suite(.onItsOwnThread, .enabled(if: PostgresServer.isAvailable), .sharedPostgresServer)
struct ValueTests {
    @Test(arguments: [0, 1, -1, .max, .min] as [Int64?] + [nil])
    func integersReturnAsTheyWere(_ value: Int64?) async throws {
        let row = try PostgresServer.shared.connect().execute(.init("SELECT $1", [.int8(value)]))[0]
        #expect(try row.optional(0) == value)
    }

    @Test(arguments: ["", "a", "ä \u{1F600} e\u{301}", "' \" \\ \n \t $1", String(repeating: "x", count: 100_000)])
    func textsReturnAsTheyWere(_ text: String) async throws {
        let connection = try PostgresServer.shared.connect()
        let row = try connection.execute(.init("SELECT $1, $2[2]", [.text(text), .textArray(["", text])]))[0]
        #expect(try row.value(0) == text)
        #expect(try row.value(1) == text)
    }

    @Test func arraysBecomeRows() async throws {
        let connection = try PostgresServer.shared.connect()
        let bytes = (0...255).map { UInt8($0) }
        let rows = try connection.execute(
            .init(
                "SELECT * FROM unnest($1, $2, $3, $4)",
                [
                    .int8Array([1, nil, .max]), .textArray([nil, "{a,b}", "NULL"]), .byteaArray([bytes, nil, []]),
                    .float8Array([-0.1, nil, .infinity]),
                ]))
        #expect(try rows.map { try $0.optional(0, as: Int.self) } == [1, nil, .max])
        #expect(try rows.map { try $0.optional(1, as: String.self) } == [nil, "{a,b}", "NULL"])
        #expect(try rows.map { try $0.optional(2, as: [UInt8].self) } == [bytes, nil, []])
        #expect(try rows.map { try $0.optional(3, as: Double.self) } == [-0.1, nil, .infinity])
        let none = PostgresStatement("SELECT * FROM unnest($1, $2)", [.int8Array([]), .textArray([])])
        #expect(try connection.execute(none).isEmpty)
    }

    @Test func smallTypesAreWidened() async throws {
        let connection = try PostgresServer.shared.connect()
        let row = try connection.execute(
            .init("SELECT 1::smallint, -2::integer, 0.5::real, 'a'::varchar, 'b'::name, 'c'::char(2), '{}'::json"))[0]
        #expect(try row.value(0) == 1)
        #expect(try row.value(1) == -2)
        #expect(try row.value(2) == 0.5)
        #expect(try (3...6).map { try row.value($0, as: String.self) } == ["a", "b", "c ", "{}"])
    }

    @Test func wrongColumnIsReported() async throws {
        let row = try PostgresServer.shared.connect().execute(.init("SELECT 1.5::numeric, NULL::text"))[0]
        for read: () throws -> Void in [
            { _ = try row.value(0, as: Int.self) }, { _ = try row.value(1, as: String.self) },
            { _ = try row.value(2, as: Int.self) }, { _ = try row.value(-1, as: Int.self) },
        ] {
            guard case .columnUnreadable = failure(of: read) else {
                Issue.record("a column was read")
                return
            }
        }
    }

    @Test func textWithNULIsRefusedAndTheTransactionContinues() async throws {
        let connection = try PostgresServer.shared.connect()
        let answer = try connection.transaction { transaction throws(PostgresError) -> Int in
            try transaction.execute(.init("CREATE TEMPORARY TABLE texts (id bigint) ON COMMIT DROP"))
            do throws(PostgresError) {
                try transaction.execute(.init("SELECT $1", [.textArray(["a", "b\0"])]))
            } catch PostgresError.parameterInvalid {
                return try transaction.execute(.init("SELECT 7"))[0].value(0)
            }
            return 0
        }
        #expect(answer == 7)
    }

    @Test func hugeValuesReturnAsTheyWere() async throws {
        let connection = try PostgresServer.shared.connect()
        let text = String(repeating: "0123456789abcdef", count: 1 << 20)
        let row = try connection.execute(
            .init("SELECT md5($1) = md5($2), $1", [.text(text), .text(text)], isPrepared: false))[0]
        #expect(try row.value(0) == true)
        #expect(try row.value(1, as: String.self).utf8.count == text.utf8.count)
    }

    @Test func tooManyValuesAreRefused() async throws {
        let connection = try PostgresServer.shared.connect()
        let values = [PostgresValue](repeating: .int8(1), count: 65_536)
        guard case .parameterInvalid = failure(of: { try connection.execute(.init("SELECT 1", values)) }) else {
            Issue.record("65,536 values were sent")
            return
        }
        #expect(try connection.value("SELECT 1") == 1)
    }

    @Test func columnsAndChangedRowsAreNamed() async throws {
        let connection = try PostgresServer.shared.connect()
        try connection.run("CREATE TEMPORARY TABLE named (id bigint, \"Name\" text)")
        let inserted = try connection.execute(
            .init(
                "INSERT INTO named SELECT * FROM unnest($1, $2)",
                [.int8Array([1, 2, 3]), .textArray(["a", "b", nil])]))
        #expect(inserted.affectedRows == 3 && inserted.isEmpty)
        let rows = try connection.execute(.init("SELECT * FROM named"))
        #expect(rows.column(named: "Name") == 1)
        #expect(rows.column(named: "name") == nil)
    }
}
