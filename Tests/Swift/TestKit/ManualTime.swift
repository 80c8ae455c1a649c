import Downloads
import Formats
import Foundation
import Storage

/// A clock that stands still until the test advances it: ten hours pass in a moment, and the test decides what has not
/// happened yet.
public final class ManualTime: TimeSource {
    private struct Sleeper: Sendable {
        /// A deadline by the uptime.
        let deadline: Duration
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State: Sendable {
        var now: Date
        var uptime: Duration
        var boot: String?
        var lastID = 0
        var sleepers: [Int: Sleeper] = [:]

        mutating func takeDue() -> [Sleeper] {
            let due = sleepers.filter { $0.value.deadline <= uptime }
            for id in due.keys { sleepers[id] = nil }
            return due.values.sorted { $0.deadline < $1.deadline }
        }

        /// nil if the sleeper sleeps now. Called under the lock, so that neither a cancellation nor an advance is
        /// missed.
        mutating func enlist(_ sleeper: Sleeper, _ id: Int) -> Result<Void, any Error>? {
            if Task.isCancelled { return .failure(CancellationError()) }
            if sleeper.deadline <= uptime { return .success(()) }
            sleepers[id] = sleeper
            return nil
        }
    }

    private let state: Monitor<State>

    /// - Parameters:
    ///   - now: 2019-08-19T15:23:14Z by default.
    ///   - boot: the boot identifier of the machine; nil if the system has none.
    public init(
        _ now: Date = Date(milliseconds: 1_566_228_194_000), uptime: Duration = .seconds(1000), boot: String? = "boot"
    ) {
        state = Monitor(State(now: now, uptime: uptime, boot: boot))
    }

    public var now: Date { state.current.now }
    public var uptime: Duration { state.current.uptime }
    public var boot: String? { state.current.boot }

    /// Lets time pass, and wakes the sleepers whose deadlines have passed.
    public func advance(by seconds: Double) {
        let due = state.withLock { state in
            let before = state.now
            state.now = Date(milliseconds: before.addingTimeInterval(seconds).milliseconds)
            state.uptime += .milliseconds(state.now.milliseconds - before.milliseconds)
            return state.takeDue()
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    /// Sets the wall clock: no time passes, and no sleeper wakes.
    public func jump(by seconds: Double) {
        state.withLock { $0.now = Date(milliseconds: $0.now.addingTimeInterval(seconds).milliseconds) }
    }

    /// Simulates that the machine is switched off, and on again some time later.
    public func reboot(after seconds: Double = 30) {
        state.withLock { state in
            state.now = Date(milliseconds: state.now.addingTimeInterval(seconds).milliseconds)
            state.uptime = .seconds(10)
            state.boot = state.boot.map { $0 + "'" }
        }
    }

    public func sleep(untilUptime deadline: Duration) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let verdict = state.withLock { $0.enlist(Sleeper(deadline: deadline, continuation: continuation), id) }
                if let verdict { continuation.resume(with: verdict) }
            }
        } onCancel: {
            let sleeper = state.withLock { $0.sleepers.removeValue(forKey: id) }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// The deadlines of the sleepers, earliest first.
    public var deadlines: [Date] {
        let state = state.current
        return state.sleepers.values.map { state.now.addingTimeInterval(($0.deadline - state.uptime).seconds) }.sorted()
    }

    /// Waits until the given number of callers sleep: before that, advancing the clock would wake none of them.
    @discardableResult
    public func waitForSleepers(_ count: Int = 1, atMost timeout: Duration = .patience) async -> Bool {
        await state.wait(atMost: timeout) { $0.sleepers.count >= count }
    }
}
