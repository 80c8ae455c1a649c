/// A table of the database, described once. The statements that create it in SQLite and in PostgreSQL follow from this value, and so do
/// `migrate-store`, the sealing of secrets, and the change of stored times when the clock jumps.
///
/// Booleans are 0 and 1, times are milliseconds since 1970 (UTC), sizes are bytes. PostgreSQL compares texts by their bytes
/// (`COLLATE "C"`), as SQLite does, so identifiers are in the order in which they were given. CHECKs repeat the invariants of the
/// domain, so that a fault above the store cannot store invalid data.
package struct Table: Sendable {
    package enum Engine: Sendable { case sqlite, postgres }

    package let name: String
    package let columns: [Column]
    /// The columns of the primary key, if they are several.
    var key: [String] = []
    /// Further conditions on the whole row, as in SQL.
    var constraints: [String] = []
    var indexes: [Index] = []
    /// The schema version that added the table.
    var since = Schema.baseline
    /// The name before `Schema.renaming`.
    var formerName: String?
    /// Whether only PostgreSQL has the table.
    package var isOfPostgres = false
    /// Whether SQLite stores the rows in the order of the primary key.
    var isOrderedByKey = false
    /// The storage parameters of PostgreSQL. A table that changes often leaves room in its pages, so that an update that touches no
    /// index stays in its page.
    var storage = ""
    /// Whether the rows survive a crash of the PostgreSQL server.
    var isDurable = true
    /// The columns that identify a row for the seal of its secrets.
    var sealedBy: [String] = []

    /// The columns of the primary key; empty for a table with one row that has none.
    package var keyColumns: [Column] { columns.filter { key.isEmpty ? $0.isKey : key.contains($0.name) } }
}

package struct Column: Sendable {
    package enum Kind: Sendable {
        case integer, real, text, bytes
        /// The database numbers the rows, and never uses a number again.
        case serial
        /// SQLite numbers the rows. On PostgreSQL, the numbers come from `journal`.
        case journal
    }

    package let name: String
    package let kind: Kind
    /// What follows the type in SQL.
    let rule: String
    /// The schema version that added the column.
    let since: Int
    /// How a jump of the clock changes the column; nil: not at all.
    var jump: ClockShift?
    /// Whether the text can have secrets, which are sealed.
    var isSealed = false

    init(_ name: String, _ kind: Kind, _ rule: String = "", since: Int = Schema.baseline) {
        self.name = name
        self.kind = kind
        self.rule = rule
        self.since = since
    }

    static func integer(_ name: String, _ rule: String = "", since: Int = Schema.baseline) -> Column {
        Column(name, .integer, rule, since: since)
    }

    static func text(_ name: String, _ rule: String = "", since: Int = Schema.baseline) -> Column {
        Column(name, .text, rule, since: since)
    }

    static func bytes(_ name: String, _ rule: String = "") -> Column { Column(name, .bytes, rule) }

    /// 0 or 1.
    ///
    /// - Parameter value: of new rows that do not name it; nil: every new row names it.
    static func flag(_ name: String, default value: Int? = 0, since: Int = Schema.baseline) -> Column {
        let beginning = value.map { " DEFAULT \($0)" } ?? ""
        return Column(name, .integer, "NOT NULL\(beginning) CHECK (\(name) IN (0, 1))", since: since)
    }

    /// A number that counts from 0.
    static func count(_ name: String, _ rule: String = "", since: Int = Schema.baseline) -> Column {
        Column(name, .integer, "NOT NULL\(rule.isEmpty ? "" : " \(rule)") CHECK (\(name) >= 0)", since: since)
    }

    /// A future time that a jump of the clock moves.
    static func moved(_ name: String, _ rule: String = "", by jump: ClockShift) -> Column {
        var column = Column(name, .integer, rule)
        column.jump = jump
        return column
    }

    /// A text that can have secrets (`Sealer`).
    static func sealed(_ name: String, _ rule: String = "", _ kind: Kind = .text) -> Column {
        var column = Column(name, kind, rule)
        column.isSealed = true
        return column
    }

    fileprivate var isKey: Bool { kind == .serial || kind == .journal || rule.contains("PRIMARY KEY") }
}

/// How a jump of the clock changes a column. `?1` is the number of milliseconds by which the clock has jumped.
///
/// A future time moves with the clock, so that a delay keeps its length. Past times stay as the clock showed them, and so do times
/// that clients name.
struct ClockShift: Sendable {
    /// The new value; nil: the former one plus the jump.
    var value: String?
    /// The rows that change; nil: all.
    var condition: String?

    static let always = ClockShift()
    static func `where`(_ condition: String) -> ClockShift { ClockShift(condition: condition) }
    static func to(_ value: String, where condition: String) -> ClockShift {
        ClockShift(value: value, condition: condition)
    }
}

struct Index: Sendable {
    let name: String
    let columns: [String]
    let condition: String?
    let isUnique: Bool
    /// Whether the index of PostgreSQL has an order that only the statements of the queue ask for (`QueueLane.ordered`).
    let isOfQueue: Bool
    let since: Int
    /// The name before `Schema.renaming`.
    let formerName: String?

    init(
        _ name: String, _ columns: String..., where condition: String? = nil, isUnique: Bool = false,
        isOfQueue: Bool = false, since: Int = Schema.baseline, formerName: String? = nil
    ) {
        self.formerName = formerName
        self.name = name
        self.columns = columns
        self.condition = condition
        self.isUnique = isUnique
        self.isOfQueue = isOfQueue
        self.since = since
    }
}

// MARK: - SQL

extension Table {
    /// The statements that bring the table from the version before to this one.
    func statements(of version: Int, for engine: Engine) -> [String] {
        guard version >= since, engine == .postgres || !isOfPostgres else { return [] }
        let name = name(in: version)
        let tables =
            version == since
            ? [creation(for: engine)]
            : columns.filter { $0.since == version }.map { "ALTER TABLE \(name) ADD COLUMN \($0.text(for: engine))" }
        let added = indexes.filter { max($0.since, since) == version }.map {
            creation(of: $0, for: engine, in: version)
        }
        return tables + added + (version == Schema.renaming ? renames(for: engine) : [])
    }

    private func renames(for engine: Engine) -> [String] {
        let table = formerName.map { ["ALTER TABLE \($0) RENAME TO \(name)"] } ?? []
        return table
            + indexes.flatMap { index -> [String] in
                guard let former = index.formerName else { return [] }
                switch engine {
                case .sqlite: return ["DROP INDEX \(former)", creation(of: index, for: engine, in: Schema.renaming)]
                case .postgres: return ["ALTER INDEX \(former) RENAME TO \(index.name)"]
                }
            }
    }

    private func name(in version: Int) -> String { version < Schema.renaming ? formerName ?? name : name }

    private func creation(for engine: Engine) -> String {
        let keys = key.isEmpty ? [] : ["PRIMARY KEY (\(key.joined(separator: ", ")))"]
        let lines = columns.filter { $0.since <= since }.map { $0.text(for: engine) } + keys + constraints
        let isUnlogged = engine == .postgres && !isDurable
        return """
            CREATE \(isUnlogged ? "UNLOGGED " : "")TABLE \(name(in: since)) (
                \(lines.joined(separator: ",\n    "))
            )\(ending(for: engine))
            """
    }

    private func ending(for engine: Engine) -> String {
        switch engine {
        case .sqlite: isOrderedByKey ? " STRICT, WITHOUT ROWID" : " STRICT"
        case .postgres: storage.isEmpty ? "" : " WITH (\(storage))"
        }
    }

    func creation(of index: Index, for engine: Engine, in version: Int) -> String {
        let texts = Set(columns.filter { $0.kind == .text }.map(\.name))
        let columns = index.columns.map { column in
            engine == .postgres && index.isOfQueue && texts.contains(column) ? "\(column) COLLATE \"POSIX\"" : column
        }
        let condition = index.condition.map { " WHERE \($0)" } ?? ""
        let indexName = version < Schema.renaming ? index.formerName ?? index.name : index.name
        return
            "CREATE \(index.isUnique ? "UNIQUE " : "")INDEX \(indexName) ON \(name(in: version)) (\(columns.joined(separator: ", ")))\(condition)"
    }

    /// The statements that follow a jump of the clock. Their one argument is the jump in milliseconds.
    var shifts: [String] {
        var conditions: [String?] = []
        for case let jump? in columns.map(\.jump) where !conditions.contains(jump.condition) {
            conditions.append(jump.condition)
        }
        return conditions.map { condition in
            let changes = columns.filter { $0.jump != nil && $0.jump?.condition == condition }.map { column in
                "\(column.name) = \(column.jump?.value ?? "\(column.name) + ?1")"
            }
            return "UPDATE \(name) SET \(changes.joined(separator: ", "))\(condition.map { " WHERE \($0)" } ?? "")"
        }
    }
}

extension Column {
    fileprivate func text(for engine: Table.Engine) -> String {
        let type = type(for: engine)
        return rule.isEmpty ? "\(name) \(type)" : "\(name) \(type) \(rule)"
    }

    private func type(for engine: Table.Engine) -> String {
        switch (kind, engine) {
        case (.integer, .sqlite): "INTEGER"
        case (.integer, .postgres): "bigint"
        case (.real, .sqlite): "REAL"
        case (.real, .postgres): "double precision"
        case (.text, .sqlite): "TEXT"
        case (.text, .postgres): "text COLLATE \"C\""
        case (.bytes, .sqlite): "BLOB"
        case (.bytes, .postgres): "bytea"
        case (.serial, .sqlite), (.journal, .sqlite): "INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT"
        case (.serial, .postgres): "bigint NOT NULL GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY"
        case (.journal, .postgres): "bigint NOT NULL PRIMARY KEY"
        }
    }
}
