import Downloads

/// What was taken to another database.
public struct MigrationReport: Sendable, Equatable {
    public struct Table: Sendable, Equatable {
        public var name: String
        public var rows: Int
        /// The rows of which all columns were read back and compared.
        public var comparedRows: Int
    }

    public var tables: [Table] = []
    /// New events have larger numbers.
    public var lastEvent: EventID
}
