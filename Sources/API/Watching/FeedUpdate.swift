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
    /// The round of the progress reports in `progress`; nil: there are none.
    var round: Int?
    /// Whether the journal had no further event at that moment.
    var isAtEnd: Bool

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        for entry in events { bytes += entry.frame ?? ServerSentEvent.frame(entry.event) }
        for frame in progress { bytes += frame }
        return bytes
    }
}
