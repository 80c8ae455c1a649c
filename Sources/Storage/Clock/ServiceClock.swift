import Downloads
import Formats
import Foundation
import Locks

/// The time that the service goes by: that of the wall clock, but without its jumps.
///
/// When the wall clock jumps, this clock goes on evenly until the writer has moved everything that is stored and still to
/// come, in one transaction (`Transaction.follow`), and follows with that commit. So a time after the jump is never
/// compared with one before it. Small differences, such as NTP's corrections, are followed at once.
///
/// A start is no different: this clock goes on from what is stored, and the first commit makes up the difference.
public final class ServiceClock: TimeSource {
    private struct State: Sendable {
        var view: ClockView
        /// The uptime at which the reading was stored last; nil before this process has.
        var notedAt: Duration?
        var unreported: [ClockJump] = []
    }

    private let base: any TimeSource
    private let state: Locked<State>

    /// - Parameters:
    ///   - base: the machine's clocks.
    ///   - past: what is stored.
    init(following base: any TimeSource, after past: StoredClock) {
        self.base = base
        let reading = base.reading
        let time = reading.expectedTime(after: past.reading, newestEvent: past.newestEvent)
        state = Locked(
            State(view: ClockView(time: time, uptime: reading.uptime, confidence: past.confidence(at: time))))
    }

    public var now: Date { view.time(at: base.uptime) }
    public var uptime: Duration { base.uptime }
    public var boot: String? { base.boot }
    var confidence: ClockConfidence { view.confidence }

    public func sleep(untilUptime deadline: Duration) async throws {
        try await base.sleep(untilUptime: deadline)
    }

    public func sleep(until deadline: Date) async throws {
        try await base.sleep(untilUptime: view.uptime(at: deadline))
    }

    /// The jumps that were followed since this was asked last.
    public func takeJumps() -> [ClockJump] {
        state.withLock { state in
            defer { state.unreported = [] }
            return state.unreported
        }
    }

    var view: ClockView { state.withLock { $0.view } }
}

// MARK: - Following the wall clock

extension ServiceClock {
    /// Compares the clocks; a small difference is followed.
    ///
    /// - Returns: what has to be stored first; nil in general.
    func changeToStore() -> ClockChange? {
        let reading = base.reading
        return state.withLock { state in
            let expected = state.view.time(at: reading.uptime)
            let isFirst = state.notedAt == nil
            if let jump = ClockJump(from: expected, to: reading.time, isAtStart: isFirst) {
                let view = state.view.after(jump, reading)
                return ClockChange(reading: reading, view: view, jump: jump, isFirst: isFirst)
            }
            if abs(reading.time.timeIntervalSince(expected)) > Self.noise {
                state.view = ClockView(time: reading.time, uptime: reading.uptime, confidence: state.view.confidence)
            }
            if let notedAt = state.notedAt, reading.uptime - notedAt < Self.noteInterval { return nil }
            return ClockChange(reading: reading, view: state.view, jump: nil, isFirst: isFirst)
        }
    }

    /// The change is stored.
    func follow(_ change: ClockChange) {
        state.withLock { state in
            state.view = change.view
            state.notedAt = change.reading.uptime
            if let jump = change.jump { state.unreported.append(jump) }
        }
    }

    /// Seconds: less is the time that it takes to read both clocks, and rounding.
    private static let noise: TimeInterval = 0.02

    /// A reading is stored once an hour, so that small differences that were followed do not add up to a jump.
    private static let noteInterval: Duration = .seconds(3600)
}
