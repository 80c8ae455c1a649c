import Foundation

/// A day of the quota `bytesPerDay`: from midnight to midnight, UTC.
public struct QuotaDay: Sendable, Hashable {
    /// The number of days since 1970.
    public let number: Int64

    public init(of time: Date) { number = Int64((time.timeIntervalSince1970 / Self.length).rounded(.down)) }

    /// The beginning of the next day.
    public var end: Date { Date(timeIntervalSince1970: Double(number + 1) * Self.length) }

    private static let length = 86_400.0
}
