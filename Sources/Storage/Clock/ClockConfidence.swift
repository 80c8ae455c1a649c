import Foundation

/// How reliable the present time is, judged by the starts and jumps of the last hour.
///
/// All times are on the present clock: a jump moves the times that were recorded before.
struct ClockConfidence: Sendable, Equatable {
    /// The start of the process or the last jump, whichever is later. Time has passed evenly since.
    var steadySince: Date
    /// The last jump; nil when there was none in the last hour.
    var jumpedAt: Date?
    /// Seconds by which the clock may be ahead, if the jumps were mistakes. Never negative: a clock that was set back
    /// delays actions and removes nothing.
    private var ahead: TimeInterval = 0

    /// - Parameter jumps: the stored jumps, oldest first, with times on the present clock.
    init(steadySince: Date, jumps: [ClockJump] = []) {
        self.steadySince = steadySince
        for jump in jumps where steadySince.timeIntervalSince(jump.to) < Self.quietPeriod {
            ahead = max(0, ahead + jump.by)
            jumpedAt = jump.to
        }
    }

    /// Seconds after a start or a jump during which no data is removed because of its age. For as long after a jump,
    /// `not_before` and `deadline` are also compared with the previous clock. An operator has this time to correct a
    /// wrong clock.
    static let quietPeriod: TimeInterval = 3600

    /// Whether data may be removed because of its age. Data that is kept for less than the quiet period is protected
    /// for that shorter time.
    func allowsRemoval(ofDataKeptFor lifetime: TimeInterval, at now: Date) -> Bool {
        now >= removalStart(forDataKeptFor: lifetime)
    }

    func removalStart(forDataKeptFor lifetime: TimeInterval) -> Date {
        steadySince.addingTimeInterval(min(lifetime, Self.quietPeriod))
    }

    /// Seconds by which the clock may be ahead. A time that a client named before `jumpedAt` counts as reached only
    /// when it was reached this much earlier.
    func doubt(at now: Date) -> TimeInterval {
        guard let jumpedAt, now.timeIntervalSince(jumpedAt) < Self.quietPeriod else { return 0 }
        return ahead
    }

    /// The confidence after a further jump.
    func after(_ jump: ClockJump) -> ClockConfidence {
        var confidence = self
        confidence.ahead = max(0, doubt(at: jump.to.addingTimeInterval(-jump.by)) + jump.by)
        confidence.steadySince = jump.to
        confidence.jumpedAt = jump.to
        return confidence
    }

    /// Whether a time that a client named is reached.
    ///
    /// - Parameter namedAt: when the client named it. After the last jump, clients name times on the present clock.
    func hasCome(_ moment: Date, namedAt: Date, at now: Date) -> Bool {
        guard moment <= now else { return false }
        if let jumpedAt, namedAt >= jumpedAt { return true }
        return moment <= now.addingTimeInterval(-doubt(at: now))
    }
}
