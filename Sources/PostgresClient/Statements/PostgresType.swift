/// The identifiers of types that every server has (`pg_type.dat`).
struct PostgresType: Sendable, Hashable {
    /// The column `pg_type.oid`.
    let oid: UInt32

    /// The server takes the type from the statement.
    static let inferred = PostgresType(oid: 0)
    static let bool = PostgresType(oid: 16)
    static let bytea = PostgresType(oid: 17)
    static let name = PostgresType(oid: 19)
    static let int8 = PostgresType(oid: 20)
    static let int2 = PostgresType(oid: 21)
    static let int4 = PostgresType(oid: 23)
    static let text = PostgresType(oid: 25)
    static let oid = PostgresType(oid: 26)
    static let json = PostgresType(oid: 114)
    static let float4 = PostgresType(oid: 700)
    static let float8 = PostgresType(oid: 701)
    /// The type of a literal, such as `SELECT 'a'` in an old server.
    static let unknown = PostgresType(oid: 705)
    static let boolArray = PostgresType(oid: 1000)
    static let byteaArray = PostgresType(oid: 1001)
    static let textArray = PostgresType(oid: 1009)
    static let int8Array = PostgresType(oid: 1016)
    static let float8Array = PostgresType(oid: 1022)
    static let bpchar = PostgresType(oid: 1042)
    static let varchar = PostgresType(oid: 1043)
    static let numeric = PostgresType(oid: 1700)
}
