import Downloads
import Formats
import Foundation
import Storage

/// A clock that stands still until the test turns it: what takes ten hours is tested in a moment, and what must not
/// happen yet can be told apart from what has not happened yet.
public final class ManualTime: TimeSource {
    private struct Sleeper: Sendable {
        /// By the uptime.
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

        /// nil: it sleeps now. Asked under the lock, so that neither a cancellation nor a turn of the clock is missed.
        mutating func enlist(_ sleeper: Sleeper, _ id: Int) -> Result<Void, any Error>? {
            if Task.isCancelled { return .failure(CancellationError()) }
            if sleeper.deadline <= uptime { return .success(()) }
            sleepers[id] = sleeper
            return nil
        }
    }

    private let state: Monitor<State>

    /// - Parameters:
    ///   - now: 2019-08-19T15:23:14Z, unless told otherwise.
    ///   - boot: which start of the machine; nil: the system does not say.
    public init(
        _ now: Date = Date(milliseconds: 1_566_228_194_000), uptime: Duration = .seconds(1000), boot: String? = "boot"
    ) {
        state = Monitor(State(now: now, uptime: uptime, boot: boot))
    }

    public var now: Date { state.current.now }
    public var uptime: Duration { state.current.uptime }
    public var boot: String? { state.current.boot }

    /// Lets time pass, and wakes whoever has slept long enough.
    public func advance(by seconds: Double) {
        let due = state.withLock { state in
            let before = state.now
            state.now = Date(milliseconds: before.addingTimeInterval(seconds).milliseconds)
            state.uptime += .milliseconds(state.now.milliseconds - before.milliseconds)
            return state.takeDue()
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    /// Somebody sets the wall clock: no time passes, and nobody wakes.
    public func jump(by seconds: Double) {
        state.withLock { $0.now = Date(milliseconds: $0.now.addingTimeInterval(seconds).milliseconds) }
    }

    /// The machine is switched off, and on again a while later.
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

    /// When those who sleep want to be woken, the earliest first.
    public var deadlines: [Date] {
        let state = state.current
        return state.sleepers.values.map { state.now.addingTimeInterval(($0.deadline - state.uptime).seconds) }.sorted()
    }

    /// Waits until so many sleep at once: until then, turning the clock would wake nobody.
    @discardableResult
    public func waitForSleepers(_ count: Int = 1, atMost timeout: Duration = .seconds(10)) async -> Bool {
        await state.wait(atMost: timeout) { $0.sleepers.count >= count }
    }
}
