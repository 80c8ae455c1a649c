import Base

/// Measurements of the thread of a client. All transfers share this thread, so a blocked thread blocks all of them.
public struct LoopMetricsSnapshot: Sendable, Equatable {
    /// The longest delay of the last minute: how long a command or a timer waited for its turn, and a socket for the
    /// end of a turn. It includes the current delay, so a hanging thread is visible while it hangs.
    public let lag: Duration
    public let turns: Histogram
    /// Running lookups, each on its own thread. It includes lookups that no transfer waits for any longer.
    public let lookupsRunning: Int
    public let lookupsQueued: Int
}

/// Records when the loop's turns begin and end, for a `LoopMetricsSnapshot`. It is a value; its caller passes the time.
struct LoopMetricsRecorder: Sendable {
    private var turnBegan: ContinuousClock.Instant?
    private var lags: RecentMaximum
    private let turns = HistogramRecorder(.turns)
    private var lookups = (running: 0, queued: 0)

    init(at now: ContinuousClock.Instant) { lags = RecentMaximum(from: now) }

    /// - Parameter due: the earliest time at which work became due for this turn; in the future, or nil, if there was none.
    mutating func beginTurn(at now: ContinuousClock.Instant, due: ContinuousClock.Instant?) {
        turnBegan = now
        if let due, due < now { lags.add(now - due, at: now) }
    }

    mutating func endTurn(at now: ContinuousClock.Instant, lookups: (running: Int, queued: Int)) {
        guard let began = turnBegan.take() else { return }
        lags.add(now - began, at: now)
        turns.record(seconds: (now - began) / .seconds(1))
        self.lookups = lookups
    }

    func snapshot(at now: ContinuousClock.Instant) -> LoopMetricsSnapshot {
        LoopMetricsSnapshot(
            lag: max(lags.value(at: now), turnBegan.map { now - $0 } ?? .zero), turns: turns.snapshot,
            lookupsRunning: lookups.running, lookupsQueued: lookups.queued)
    }
}

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

    init(from start: ContinuousClock.Instant) { self.start = start }

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

    private func slot(at now: ContinuousClock.Instant) -> Int { Int((now - start) / Self.slot) }
}
