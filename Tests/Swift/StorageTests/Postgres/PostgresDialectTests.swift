import Testing

@testable import Storage
@testable import StoragePostgres

struct PostgresDialectTests {
    @Test(arguments: [
        ("SELECT 1", "SELECT 1"),
        ("a = ? AND b = ?", "a = $1 AND b = $2"),
        ("a = ?2 AND b = ?1 AND c = ?2", "a = $1 AND b = $2 AND c = $1"),
        ("a = ?1 AND b = ?", "a = $1 AND b = $2"),
        ("a = :name AND b = :other AND c = :name", "a = $1 AND b = $2 AND c = $1"),
        ("CAST(sum(x) AS bigint), x::bigint, '{}'::json", "CAST(sum(x) AS bigint), x::bigint, '{}'::json"),
        ("a = 'it''s ? :name' AND b = ?", "a = 'it''s ? :name' AND b = $1"),
        ("\"a?\" = ?", "\"a?\" = $1"),
        ("a -- not ? here\n= ?", "a -- not ? here\n= $1"),
        ("'unfinished ?", "'unfinished ?"),
        ("FROM jobs INDEXED BY jobs_queue WHERE a = ?", "FROM jobs WHERE a = $1"),
        ("a COLLATE BINARY > ? ORDER BY a COLLATE BINARY", "a COLLATE \"POSIX\" > $1 ORDER BY a COLLATE \"POSIX\""),
        ("a COLLATE BINARY)", "a COLLATE \"POSIX\")"), ("a COLLATE NOCASE", "a COLLATE NOCASE"),
        ("FROM a CROSS JOIN b ON b.id = a.id", "FROM a JOIN b ON b.id = a.id"),
        ("FROM a CROSS JOIN b AS c ON c.id = a.id", "FROM a JOIN b AS c ON c.id = a.id"),
        ("FROM a CROSS JOIN b WHERE a.id = ?", "FROM a CROSS JOIN b WHERE a.id = $1"),
        ("FROM a CROSS JOIN (VALUES (0), (1)) AS r", "FROM a CROSS JOIN (VALUES (0), (1)) AS r"),
        ("max(a, ?)", "GREATEST(a, $1)"),
        ("sum(max(a, coalesce(b, 0)))", "sum(GREATEST(a, coalesce(b, 0)))"),
        ("max(coalesce(a, b))", "max(coalesce(a, b))"),
        ("min((a), b)", "LEAST((a), b)"),
        ("max(id), min(id)", "max(id), min(id)"),
        ("a IS NULL OR a IS NOT NULL", "a IS NULL OR a IS NOT NULL"),
        ("a IS ? AND b IS NOT c", "a IS NOT DISTINCT FROM $1 AND b IS DISTINCT FROM c"),
        ("a IS NOT DISTINCT FROM b", "a IS NOT DISTINCT FROM b"),
        ("", ""),
    ])
    func textIsTranslated(_ text: String, _ translated: String) {
        #expect(PostgresDialect.translate(text).sql == translated)
    }

    @Test func parametersAreInTheOrderOfTheirFirstUse() {
        let positional = PostgresDialect.translate("a = ?2 AND b = ? AND c = ?1")
        #expect(positional.parameters == [.position(1), .position(2), .position(0)])
        let named = PostgresDialect.translate("a = :b AND b = :a AND c = :b")
        #expect(named.parameters == [.name("b"), .name("a")])
    }

    @Test func textOfAllTokensIsTheStatement() {
        let sql = "SELECT a, 'x' FROM b WHERE c <> 1.5 -- end\n  AND d::text = \"e\" "
        let text = SQLToken.tokens(of: sql).map { token in
            switch token {
            case .word(let text), .other(let text), .blank(let text): String(text)
            case .positional, .named: "?"
            }
        }
        #expect(text.joined() == sql)
    }
}
