/// The largest value of the last minute, with a precision of ten seconds. It keeps one maximum for each ten seconds
/// instead of every value.
struct RecentMaximum: Sendable {
    private static let slot = Duration.seconds(10)
    /// One more than six, because the current slot is incomplete.
    private static let slotCount = 7

    private let start: ContinuousClock.Instant
    private var maxima = [Duration](repeating: .zero, count: slotCount)
    /// The latest slot with a value, counted from the start.
    private var latest = 0

    init(from start: ContinuousClock.Instant) {
        self.start = start
    }

    mutating func add(_ value: Duration, at now: ContinuousClock.Instant) {
        let slot = slot(at: now)
        // Skipped slots contain values that are too old.
        for skipped in max(latest + 1, slot - Self.slotCount + 1)..<max(latest + 1, slot + 1) {
            maxima[skipped % Self.slotCount] = .zero
        }
        latest = max(latest, slot)
        maxima[latest % Self.slotCount] = max(maxima[latest % Self.slotCount], value)
    }

    func value(at now: ContinuousClock.Instant) -> Duration {
        let oldest = slot(at: now) - Self.slotCount + 1
        let recent = max(oldest, latest - Self.slotCount + 1, 0)..<max(oldest, latest + 1)
        return recent.map { maxima[$0 % Self.slotCount] }.max() ?? .zero
    }

    private func slot(at now: ContinuousClock.Instant) -> Int {
        Int((now - start) / Self.slot)
    }
}
