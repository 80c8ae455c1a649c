/// Why the connection cannot be used any more, or why a wait has ended.
enum RoundTripFailure: Error {
    case lost(PostgresReport)
    case timedOut
    case interrupted
}
