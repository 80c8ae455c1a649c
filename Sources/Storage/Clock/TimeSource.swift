import Base
import Downloads
import Formats
import Foundation

/// A source of time: the machine, a manual clock of a test, or the clock of the service.
///
/// Times that are stored, or compared with stored times, use `now`. Times that are measured within the process, such as
/// rates and timeouts, use `uptime`.
public protocol TimeSource: Sendable {
    /// The wall clock in whole milliseconds, so that a stored time equals the time that is read back. It may jump in
    /// both directions.
    var now: Date { get }

    /// The time since the machine was started, including suspension (CLOCK_BOOTTIME of clock_gettime(2)). It never
    /// jumps.
    var uptime: Duration { get }

    /// Identifies the boot of the machine; nil when the system does not report it.
    var boot: String? { get }

    /// Returns when `uptime` is `deadline`, or earlier. Throws `CancellationError`.
    func sleep(untilUptime deadline: Duration) async throws

    /// Returns when `now` would be `deadline` if the clock did not jump, or earlier. Throws `CancellationError`.
    func sleep(until deadline: Date) async throws

    /// Asks a question in every interval. Returns when the answer is true, or when the task is cancelled.
    ///
    /// - Parameter answer: may block its thread, for example in a call to a disk that does not respond.
    func wait(every interval: Duration, until answer: @escaping @Sendable () -> Bool) async
}

extension TimeSource {
    public func wait(every interval: Duration, until answer: @escaping @Sendable () -> Bool) async {
        repeat {
            do { try await sleep(untilUptime: uptime + interval) } catch { return }
        } while !answer()
    }

    public func sleep(until deadline: Date) async throws {
        try await sleep(untilUptime: uptime + .milliseconds(deadline.milliseconds - now.milliseconds))
    }

    var reading: ClockReading {
        // If the process was suspended between the two readings, the pair would look like a jump.
        for _ in 0..<10 {
            let (before, time, after) = (uptime, now, uptime)
            if after - before < .milliseconds(50) { return ClockReading(time: time, uptime: after, boot: boot) }
        }
        return ClockReading(time: now, uptime: uptime, boot: boot)
    }
}

public struct SystemTime: TimeSource {
    public init() {}

    public var now: Date { Date(milliseconds: Date().milliseconds) }

    public var uptime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    public var boot: String? { Self.boot }

    public func sleep(untilUptime deadline: Duration) async throws {
        // A timer of the runtime may sleep too long when the machine is suspended. After a minute at most the caller
        // checks again.
        let left = min(deadline - uptime, .seconds(60))
        if left > .zero { try await Task.sleep(for: left) }
    }

    /// The question has a thread of its own: each wake-up of a task wakes four or five threads of the runtime.
    public func wait(every interval: Duration, until answer: @escaping @Sendable () -> Bool) async {
        let (cancelled, ended) = (AutoResetEvent(), AsyncAutoResetEvent())
        let failure = DetachedThread.start(named: "watch", stackBytes: 256 << 10) {
            while !cancelled.wait(atMost: interval), !answer() {}
            ended.set()
        }
        guard failure == 0 else {
            // The caller asks again when it has found that nothing has changed.
            return _ = try? await sleep(untilUptime: uptime + interval)
        }
        await withTaskCancellationHandler {
            await ended.wait()
        } onCancel: {
            cancelled.set()
        }
        // The wait may have ended without a cause.
        cancelled.set()
    }

    /// random(4): "a random string, generated once" at each start of the kernel.
    private static let boot = (try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8))
        .map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
}

struct ClockReading: Sendable, Equatable {
    var time: Date
    /// The time since the machine was started.
    var uptime: Duration
    /// Identifies the boot of the machine; nil when unknown.
    var boot: String?
}

extension ClockReading {
    /// The time from which the service continues at its start. It is the wall clock if that is plausible, else the time
    /// that follows from the stored times. The difference is a jump.
    ///
    /// - Parameters:
    ///   - last: the last stored reading; nil in a new database.
    ///   - newestEvent: the time of the last event, if it is later than that reading.
    func expectedTime(after last: ClockReading?, newestEvent: Date?) -> Date {
        if let last, let boot, last.boot == boot, last.uptime <= uptime {
            // The machine was not restarted, so this is exact for any downtime of the service.
            return last.time.addingTimeInterval((uptime - last.uptime).seconds)
        }
        guard let newest = newestEvent ?? last?.time else { return time }
        let absence = time.timeIntervalSince(newest)
        return absence < -ClockJump.tolerance || absence > ClockJump.longestAbsence ? newest : time
    }
}

extension AsyncAutoResetEvent {
    /// Waits as `wait()` does, but at most until `deadline`.
    ///
    /// - Parameter deadline: a moment by the clock `time`; nil waits without a limit.
    public func wait(until deadline: Date?, by time: any TimeSource) async {
        let timer = deadline.map { deadline in
            Task {
                try await time.sleep(until: deadline)
                set()
            }
        }
        await wait()
        timer?.cancel()
    }
}
