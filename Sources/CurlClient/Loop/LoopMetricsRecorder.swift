/// What a `LoopMetricsSnapshot` is made from: the loop's turns as they begin and end, as a value that is told the time.
struct LoopMetricsRecorder: Sendable {
    private var turnBegan: ContinuousClock.Instant?
    private var lags: RecentMaximum
    private var turns = DurationHistogram()
    private var lookups = (running: 0, queued: 0)

    init(at now: ContinuousClock.Instant) {
        lags = RecentMaximum(from: now)
    }

    /// - Parameter due: since when something has been waiting for this turn; in the future, or nil, if nothing has.
    mutating func beginTurn(at now: ContinuousClock.Instant, due: ContinuousClock.Instant?) {
        turnBegan = now
        if let due, due < now { lags.add(now - due, at: now) }
    }

    mutating func endTurn(at now: ContinuousClock.Instant, lookups: (running: Int, queued: Int)) {
        guard let began = turnBegan.take() else { return }
        lags.add(now - began, at: now)
        turns.add(now - began)
        self.lookups = lookups
    }

    func snapshot(at now: ContinuousClock.Instant) -> LoopMetricsSnapshot {
        var snapshot = LoopMetricsSnapshot()
        snapshot.lag = max(lags.value(at: now), turnBegan.map { now - $0 } ?? .zero)
        snapshot.turns = turns
        snapshot.lookupsRunning = lookups.running
        snapshot.lookupsQueued = lookups.queued
        return snapshot
    }
}

/// The largest of what was added within the last minute, give or take a sixth: one maximum is kept for each sixth, not
/// every value.
struct RecentMaximum: Sendable {
    private static let slot = Duration.seconds(10)
    /// The present one is not over yet, hence one more.
    private static let slotCount = 7

    private let start: ContinuousClock.Instant
    private var maxima = [Duration](repeating: .zero, count: slotCount)
    /// The slot that was last added to, counted from the start.
    private var latest = 0

    init(from start: ContinuousClock.Instant) {
        self.start = start
    }

    mutating func add(_ value: Duration, at now: ContinuousClock.Instant) {
        let slot = slot(at: now)
        // Those that nothing was added to hold what is long over.
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
