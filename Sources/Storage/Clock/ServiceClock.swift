import Base
import Downloads
import Formats
import Foundation

/// The clock of the service: the wall clock without its jumps.
///
/// When the wall clock jumps, this clock continues evenly until the writer has moved all stored future times in one
/// transaction (`Transaction.follow`). It follows the wall clock with that commit. So no code compares a time after the
/// jump with a time before it. Small differences, such as corrections by NTP, are followed at once.
///
/// A start works the same way: the clock continues from the stored times, and the first commit follows the wall clock.
public final class ServiceClock: TimeSource {
    private struct State: Sendable {
        var view: ClockView
        /// The uptime of the last stored reading; nil before this process has stored one.
        var notedAt: Duration?
        var unreported: [ClockJump] = []
        /// The number of the last stored jump; nil: the next group commit of a service tells it.
        var lastJump: Int64?
        /// The uptime since which this clock differs from that of the machine, and another service has to store the jump.
        var waitsSince: Duration?

        /// If no service stores a jump, the stored times are those of the new clock already.
        mutating func wait(for jump: ClockJump, _ reading: ClockReading) {
            guard let since = waitsSince else { return waitsSince = reading.uptime }
            guard reading.uptime - since > ServiceClock.longestWait else { return }
            view = view.after(jump, reading)
            waitsSince = nil
        }
    }

    private static let longestWait: Duration = .seconds(30)

    private let base: any TimeSource
    private let state: Locked<State>

    init(following base: any TimeSource, after past: StoredClock) {
        self.base = base
        let reading = base.reading
        let time = reading.expectedTime(after: past.reading, newestEvent: past.newestEvent)
        state = Locked(
            State(
                view: ClockView(
                    time: time, uptime: reading.uptime, confidence: .init(steadySince: time, jumps: past.jumps)),
                lastJump: past.lastJump))
    }

    public var now: Date { view.time(at: base.uptime) }
    public var uptime: Duration { base.uptime }
    public var boot: String? { base.boot }
    var confidence: ClockConfidence { view.confidence }

    public func sleep(untilUptime deadline: Duration) async throws { try await base.sleep(untilUptime: deadline) }

    public func sleep(until deadline: Date) async throws {
        try await base.sleep(untilUptime: view.uptime(at: deadline))
    }

    public func wait(every interval: Duration, until answer: @escaping @Sendable () -> Bool) async {
        await base.wait(every: interval, until: answer)
    }

    var hasUnreportedJumps: Bool { state.withLock { !$0.unreported.isEmpty } }

    public func consumeJumps() -> [ClockJump] {
        state.withLock { state in
            defer { state.unreported = [] }
            return state.unreported
        }
    }

    var view: ClockView { state.withLock { $0.view } }
}

// MARK: - Following the wall clock

extension ServiceClock {
    /// Compares the clocks, and follows a small difference.
    ///
    /// - Parameter followsJumps: whether this service commits a jump. Of several services, one does, and the others follow it.
    /// - Returns: the change that must be committed first; usually nil.
    func changeToStore(followsJumps: Bool) -> ClockChange? {
        let reading = base.reading
        return state.withLock { state in
            let expected = state.view.time(at: reading.uptime)
            let isFirst = state.notedAt == nil
            let jump = ClockJump(from: expected, to: reading.time, isAtStart: isFirst)
            if !followsJumps, let jump {
                state.wait(for: jump, reading)
                return nil
            }
            state.waitsSince = nil
            if let jump {
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

    func follow(_ change: ClockChange) {
        state.withLock { state in
            state.view = change.view
            state.notedAt = change.reading.uptime
            guard let jump = change.jump else { return }
            state.unreported.append(jump)
            state.lastJump = nil
        }
    }

    var lastJump: Int64? { state.withLock(\.lastJump) }

    /// - Parameter last: the number of the last stored jump.
    func lacksJump(_ last: Int64) -> Bool {
        state.withLock { state in
            defer { state.lastJump = state.lastJump ?? last }
            return state.lastJump.map { $0 != last } ?? false
        }
    }

    func follow(_ jumps: [ClockJump], last: Int64) {
        let reading = base.reading
        state.withLock { state in
            for jump in jumps { state.view = state.view.after(jump, reading) }
            state.lastJump = last
        }
    }

    /// Seconds. Smaller differences come from the time between two readings, and from rounding.
    private static let noise: TimeInterval = 0.02

    /// A reading is stored every hour, so that small differences don't add up to a jump.
    private static let noteInterval: Duration = .seconds(3600)
}

struct ClockChange: Sendable {
    var reading: ClockReading
    /// How time runs after the change.
    var view: ClockView
    /// nil when only the reading is stored.
    var jump: ClockJump?
    var isFirst: Bool
}

/// Time that runs evenly from one moment.
struct ClockView: Sendable, Equatable {
    /// The time at that uptime.
    let time: Date
    let uptime: Duration
    let confidence: ClockConfidence

    func time(at moment: Duration) -> Date { Date(milliseconds: time.milliseconds + (moment - uptime).milliseconds) }

    func uptime(at moment: Date) -> Duration { uptime + .milliseconds(moment.milliseconds - time.milliseconds) }

    func after(_ jump: ClockJump, _ reading: ClockReading) -> ClockView {
        ClockView(time: reading.time, uptime: reading.uptime, confidence: confidence.after(jump))
    }
}
