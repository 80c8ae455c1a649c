import Foundation

/// Limits for a time of some days of the week: `mon-fri 08:00-18:00 Europe/Berlin max_concurrent_jobs=2`.
///
/// The window of a day begins and ends when the clocks of the time zone show its times first. A time that the clocks skip
/// is the moment at which they skip it. So each window occurs once, also where the clocks are set back, and windows that
/// adjoin each other leave no gap.
public struct ScheduleRule: Sendable, Equatable {
    /// The days on which windows begin.
    public var days: Set<Weekday>
    /// Minutes after midnight, 0 to 1,439.
    public var start: Int
    /// Minutes after midnight, 1 to 1,440. If it is not after `start`, the window ends on the next day.
    public var end: Int
    public var zone: TimeZone
    /// As it was given: Foundation has other names for some zones (`GMT` for `UTC`).
    public var zoneName: String
    public var limits: ScheduleLimits

    /// The windows from two days before an instant to 17 days after it, the earliest first.
    func windows(around instant: Date) -> [Range<Date>] {
        let today = zone.day(at: instant)
        return (today - 2...today + 17).compactMap { day in
            guard days.contains(Weekday(ofDay: day)) else { return nil }
            let begin = zone.instant(day: day, minute: start)
            let finish = zone.instant(day: day, minute: end > start ? end : end + Self.minutesOfDay)
            return begin < finish ? begin..<finish : nil
        }
    }

    static let minutesOfDay = 1440
}
