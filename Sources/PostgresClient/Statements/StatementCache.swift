/// The statements that the server has prepared on one connection.
struct StatementCache {
    /// The same text with other types of values is another statement.
    struct Key: Hashable {
        var sql: String
        var types: [UInt32]
    }

    private var names: [Key: String] = [:]
    private let limit: Int
    /// Names are not used again, so that a statement that failed to be prepared cannot be confused with a later one.
    private var last = 0

    init(limit: Int) { self.limit = limit }

    /// nil if the statement is not prepared.
    subscript(key: Key) -> String? { names[key] }

    /// - Parameter pending: the number of statements that are being prepared.
    func hasRoom(besides pending: Int) -> Bool { names.count + pending < limit }

    mutating func nextName() -> String {
        last += 1
        return "s\(last)"
    }

    mutating func note(_ name: String, for key: Key) { names[key] = name }

    /// The server may have lost them, or they do not fit the present tables.
    mutating func removeAll() { names = [:] }
}
