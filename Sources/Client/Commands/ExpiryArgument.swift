import ArgumentParser
import Formats
import Foundation

/// `90d`: a time from now in seconds, minutes, hours, days or weeks. Or a time in RFC 3339.
enum ExpiryArgument: ExpressibleByArgument, Sendable, Equatable {
    /// In seconds.
    case after(Double)
    case at(String)

    init?(argument: String) {
        if Date(rfc3339: argument) != nil {
            self = .at(argument)
            return
        }
        guard let unit = argument.last.flatMap({ Self.units[$0] }), let number = Int(argument.dropLast()),
            (1...Self.longest).contains(number)
        else { return nil }
        self = .after(Double(number) * unit)
    }

    /// - Returns: RFC 3339.
    func time(from now: Date) -> String {
        switch self {
        case .after(let seconds): now.addingTimeInterval(seconds).rfc3339
        case .at(let text): text
        }
    }

    private static let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
    private static let longest = 1_000_000
}
