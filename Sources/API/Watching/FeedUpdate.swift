import Downloads
import Formats
import Foundation
import HTTPServer
import Logging
import Storage

/// The next events and progress reports of a stream.
struct FeedUpdate {
    var events: [RecentEvents.Entry]
    var progress: [[UInt8]]
    var position: EventID
    /// The round of the reports in `progress`; nil when progress is not included.
    var round: Int?
    /// Whether the journal had no further event when the update was read.
    var isAtEnd: Bool

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        for entry in events { bytes += entry.frame ?? ServerSentEvent.frame(entry.event) }
        for frame in progress { bytes += frame }
        return bytes
    }
}
