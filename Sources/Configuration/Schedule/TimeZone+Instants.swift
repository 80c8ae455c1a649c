import Foundation

/// Converts between instants and what the clocks of a time zone show. A day is the number of days since 1970-01-01.
extension TimeZone {
    /// The date that the clocks show.
    func day(at instant: Date) -> Int {
        Int(((instant.timeIntervalSince1970 + offset(at: instant)) / Self.secondsOfDay).rounded(.down))
    }

    /// The first instant at which the clocks show a time; the moment of the change, if they skip it.
    ///
    /// - Parameter minute: minutes after midnight. 1,440 and more are on the next day.
    func instant(day: Int, minute: Int) -> Date {
        // The clock reading, as if the clocks showed UTC.
        let reading = Double(day) * Self.secondsOfDay + Double(minute) * 60
        let before = offset(at: Date(timeIntervalSince1970: reading - Self.secondsOfDay))
        let after = offset(at: Date(timeIntervalSince1970: reading + Self.secondsOfDay))
        let candidates = [reading - max(before, after), reading - min(before, after)]
        for candidate in candidates {
            let instant = Date(timeIntervalSince1970: candidate)
            if candidate + offset(at: instant) == reading { return instant }
        }
        return change(from: candidates[0], to: candidates[1])
    }

    /// The first second with another offset than `start`.
    private func change(from start: Double, to end: Double) -> Date {
        let before = offset(at: Date(timeIntervalSince1970: start))
        var (low, high) = (start, end)
        while high - low > 1 {
            let middle = ((low + high) / 2).rounded()
            if offset(at: Date(timeIntervalSince1970: middle)) == before { low = middle } else { high = middle }
        }
        return Date(timeIntervalSince1970: high)
    }

    private func offset(at instant: Date) -> Double { Double(secondsFromGMT(for: instant)) }

    private static let secondsOfDay = 86_400.0
}
