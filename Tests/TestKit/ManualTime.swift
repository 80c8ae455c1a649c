import Downloads
import Foundation

/// A clock that stands still until the test turns it: what takes ten hours is tested in a moment, and what must not
/// happen yet can be told apart from what has not happened yet.
public final class ManualTime: TimeSource {
    private struct Sleeper: Sendable {
        let deadline: Date
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State: Sendable {
        var now: Date
        var lastID = 0
        var sleepers: [Int: Sleeper] = [:]

        mutating func takeDue() -> [Sleeper] {
            let due = sleepers.filter { $0.value.deadline <= now }
            for id in due.keys { sleepers[id] = nil }
            return due.values.sorted { $0.deadline < $1.deadline }
        }

        /// nil: it sleeps now. Asked under the lock, so that neither a cancellation nor a turn of the clock is missed.
        mutating func enlist(_ sleeper: Sleeper, _ id: Int) -> Result<Void, any Error>? {
            if Task.isCancelled { return .failure(CancellationError()) }
            if sleeper.deadline <= now { return .success(()) }
            sleepers[id] = sleeper
            return nil
        }
    }

    private let state: Monitor<State>

    /// 2019-08-19T15:23:14Z, unless told otherwise.
    public init(_ now: Date = Date(milliseconds: 1_566_228_194_000)) {
        state = Monitor(State(now: now))
    }

    public var now: Date { state.current.now }

    /// Turns the clock and wakes whoever has slept long enough.
    public func advance(by seconds: Double) {
        let due = state.withLock { state in
            state.now = Date(milliseconds: state.now.addingTimeInterval(seconds).milliseconds)
            return state.takeDue()
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    public func sleep(until deadline: Date) async throws {
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
    public var deadlines: [Date] { state.current.sleepers.values.map(\.deadline).sorted() }

    /// Waits until so many sleep at once: until then, turning the clock would wake nobody.
    @discardableResult
    public func waitForSleepers(_ count: Int = 1, atMost timeout: Duration = .seconds(10)) async -> Bool {
        await state.wait(atMost: timeout) { $0.sleepers.count >= count }
    }
}
