import Foundation

/// How far the present time can be relied upon: what the starts and jumps of the last hour say about it.
///
/// All times are on the present clock: a jump moves those that were noted before.
struct ClockConfidence: Sendable, Equatable {
    /// The start of this process, or the last jump if that came later: time has passed evenly since.
    var steadySince: Date
    /// The last jump; nil where there was none lately.
    var jumpedAt: Date?
    /// Seconds that the clock may be ahead, should the jumps have been mistakes. Never negative: a clock that was set
    /// back puts things off, and does away with nothing.
    private var ahead: TimeInterval = 0

    /// - Parameter jumps: those that are remembered, oldest first; the times on the present clock.
    init(steadySince: Date, jumps: [ClockJump] = []) {
        self.steadySince = steadySince
        for jump in jumps where steadySince.timeIntervalSince(jump.to) < Self.quietPeriod {
            ahead = max(0, ahead + jump.by)
            jumpedAt = jump.to
        }
    }

    /// Seconds after a start or a jump in which nothing is removed because it is old, and after a jump in which
    /// `not_before` and `deadline` are judged by the clock before, too: time to set a wrong clock right.
    static let quietPeriod: TimeInterval = 3600

    /// Whether something may be removed because it has reached an age. What is kept for less than the quiet period is
    /// protected for as long as it is kept.
    func allowsRemoval(ofDataKeptFor lifetime: TimeInterval, at now: Date) -> Bool {
        now >= removalStart(forDataKeptFor: lifetime)
    }

    func removalStart(forDataKeptFor lifetime: TimeInterval) -> Date {
        steadySince.addingTimeInterval(min(lifetime, Self.quietPeriod))
    }

    /// Seconds by which moments that a client named before `jumpedAt` are judged late: until then they may not have come.
    func doubt(at now: Date) -> TimeInterval {
        guard let jumpedAt, now.timeIntervalSince(jumpedAt) < Self.quietPeriod else { return 0 }
        return ahead
    }

    /// After a further jump.
    func after(_ jump: ClockJump) -> ClockConfidence {
        var confidence = self
        confidence.ahead = max(0, doubt(at: jump.to.addingTimeInterval(-jump.by)) + jump.by)
        confidence.steadySince = jump.to
        confidence.jumpedAt = jump.to
        return confidence
    }

    /// Whether a moment that a client named has come.
    ///
    /// - Parameter namedAt: when the client named it. After the last jump it was meant on the present clock.
    func hasCome(_ moment: Date, namedAt: Date, at now: Date) -> Bool {
        guard moment <= now else { return false }
        if let jumpedAt, namedAt >= jumpedAt { return true }
        return moment <= now.addingTimeInterval(-doubt(at: now))
    }
}
