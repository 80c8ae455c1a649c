import ArgumentParser
import Formats
import Foundation

/// A number of seconds above 0: `90`, `90s`, `15m`, `8h`, `30d`, `2w`.
struct DurationArgument: ExpressibleByArgument, Sendable, Equatable {
    let seconds: Double

    init?(argument: String) {
        guard let seconds = Quantity.seconds(argument), seconds > 0, seconds <= Self.longest else { return nil }
        self.seconds = seconds
    }

    /// A hundred years.
    private static let longest = 36_525.0 * 86_400
}

/// A moment: RFC 3339, or in local time `22:00` (the next one) or `2030-01-31 22:00`.
struct MomentArgument: ExpressibleByArgument, Sendable, Equatable {
    /// RFC 3339, as the service takes it.
    let time: String

    init?(argument: String) { self.init(argument, now: Date()) }

    init?(_ text: String, now: Date, zone: TimeZone = .current) {
        guard let date = Date(moment: text, now: now, zone: zone) else { return nil }
        time = Date(rfc3339: text) == nil ? date.rfc3339 : text
    }
}

/// A moment, or `none`, which removes it.
struct MomentLimit: ExpressibleByArgument, Sendable {
    let time: String?

    init?(argument: String) {
        if argument == "none" {
            time = nil
        } else if let moment = MomentArgument(argument: argument) {
            time = moment.time
        } else {
            return nil
        }
    }
}

/// `90d`: a time from now, or before now. Or a moment.
enum ExpiryArgument: ExpressibleByArgument, Sendable, Equatable {
    case after(DurationArgument)
    case at(MomentArgument)

    init?(argument: String) {
        if let moment = MomentArgument(argument: argument) {
            self = .at(moment)
        } else if let duration = DurationArgument(argument: argument) {
            self = .after(duration)
        } else {
            return nil
        }
    }

    /// - Returns: RFC 3339.
    func time(from now: Date) -> String {
        switch self {
        case .after(let duration): now.addingTimeInterval(duration.seconds).rfc3339
        case .at(let moment): moment.time
        }
    }

    /// - Returns: RFC 3339.
    func time(before now: Date) -> String {
        switch self {
        case .after(let duration): now.addingTimeInterval(-duration.seconds).rfc3339
        case .at(let moment): moment.time
        }
    }
}
