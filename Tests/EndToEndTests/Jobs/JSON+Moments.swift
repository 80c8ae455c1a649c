import Formats
import Foundation

/// Times as the API tells them, and as tests ask for them.
extension JSON {
    var date: Date? { string.flatMap { Date(rfc3339: $0) } }

    /// A moment from now on, negative for one that has passed.
    static func moment(in seconds: Double) -> JSON { .time(Date(timeIntervalSinceNow: seconds)) }
}
