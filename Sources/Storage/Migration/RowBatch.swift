/// Rows that are sent to PostgreSQL together.
struct RowBatch {
    private(set) var rows: [[MigratedValue]] = []
    /// The rows that are read back and compared.
    private(set) var samples: [[MigratedValue]] = []
    private var size = 0

    var isFull: Bool { rows.count >= Self.mostRows || size >= Self.mostBytes }

    mutating func append(_ row: [MigratedValue], isSample: Bool) {
        rows.append(row)
        if isSample { samples.append(row) }
        size += row.reduce(0) { $0 + $1.size }
    }

    private static let mostRows = 2000
    private static let mostBytes = 2 << 20
}
