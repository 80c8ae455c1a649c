/// Records when the loop's turns begin and end, for a `LoopMetricsSnapshot`. It is a value; its caller passes the time.
struct LoopMetricsRecorder: Sendable {
    private var turnBegan: ContinuousClock.Instant?
    private var lags: RecentMaximum
    private var turns = DurationHistogram()
    private var lookups = (running: 0, queued: 0)

    init(at now: ContinuousClock.Instant) {
        lags = RecentMaximum(from: now)
    }

    /// - Parameter due: the earliest time at which work became due for this turn; in the future, or nil, if there was
    ///   none.
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
