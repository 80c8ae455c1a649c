import Formats
import Foundation

/// Times as the API writes them.
extension JSON {
    var date: Date? { string.flatMap { Date(rfc3339: $0) } }

    /// A time relative to now; negative seconds are in the past.
    static func moment(in seconds: Double) -> JSON { .time(Date(timeIntervalSinceNow: seconds)) }
}
