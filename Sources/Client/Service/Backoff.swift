import CurlClient
import Formats
import Foundation

/// The delay before the next attempt: 0.2 s, doubled up to 5 s, with jitter, so that the clients of a restarted service do not
/// connect at the same moment.
struct Backoff: Sendable {
    private var seconds = 0.2

    mutating func next() -> Duration {
        defer { seconds = min(seconds * 2, 5) }
        return .seconds(seconds * Double.random(in: 0.5...1))
    }
}
