/// Decides which command runs next: the events in hand, in order for each session, some at a time.
///
/// An event is done if its command ends with 0. With 75 (EX_TEMPFAIL) it is tried again later; any other end is a failure, which is
/// tried again a limited number of times. Until then, the later events of its session wait.
struct HookQueue {
    struct Entry: Sendable, Equatable {
        var event: HookEvent
        var failures = 0
        /// Ends of its command so far. The delay follows from it.
        fileprivate var tries = 0
    }

    enum Verdict: Equatable {
        case done
        /// Again after so many seconds.
        case delayed(seconds: Double)
        case failed(Int, seconds: Double)
        case givenUp
    }

    private struct Line {
        var entries: [Entry]
        var isRunning = false
        /// The uptime in seconds before which the first event is not tried.
        var notBefore = 0.0
    }

    private let concurrency: Int
    private let attempts: Int
    private var lines: [String: Line] = [:]
    private(set) var running = 0
    private(set) var count = 0

    /// - Parameters:
    ///   - concurrency: the number of commands that run at a time.
    ///   - attempts: the failures after which an event is given up.
    init(concurrency: Int, attempts: Int) {
        self.concurrency = concurrency
        self.attempts = attempts
    }

    /// Adds events in their order.
    mutating func add(_ events: [HookEvent]) {
        for event in events {
            lines[event.session, default: Line(entries: [])].entries.append(Entry(event: event))
            count += 1
        }
    }

    /// Begins the oldest event that may run; nil if none may now.
    mutating func next(at now: Double) -> HookEvent? {
        guard running < concurrency else { return nil }
        let ready = lines.filter { !$0.value.isRunning && $0.value.notBefore <= now }
        guard let (session, line) = ready.min(by: { $0.value.entries[0].event.id < $1.value.entries[0].event.id })
        else { return nil }
        lines[session]?.isRunning = true
        running += 1
        return line.entries[0].event
    }

    /// The time at which an event that waits may be tried again; nil if none waits.
    var nextTry: Double? { lines.values.filter { !$0.isRunning }.map(\.notBefore).min() }

    /// The command of a session's first event has ended.
    ///
    /// - Parameter jitter: from 0 to 1.
    mutating func end(of session: String, _ end: HookEnd, at now: Double, jitter: Double) -> Verdict {
        guard var line = lines[session], line.isRunning else { preconditionFailure("no command of \(session) runs") }
        running -= 1
        line.isRunning = false
        let verdict = verdict(on: &line.entries[0], end, jitter)
        switch verdict {
        case .done, .givenUp:
            line.entries.removeFirst()
            line.notBefore = 0
            count -= 1
        case .delayed(let seconds), .failed(_, let seconds): line.notBefore = now + seconds
        }
        lines[session] = line.entries.isEmpty ? nil : line
        return verdict
    }

    private func verdict(on entry: inout Entry, _ end: HookEnd, _ jitter: Double) -> Verdict {
        if end == .exited(0) { return .done }
        entry.tries += 1
        let seconds = Self.delay(afterTries: entry.tries, jitter: jitter)
        if end == .exited(HookEnd.tryLater) { return .delayed(seconds: seconds) }
        entry.failures += 1
        return entry.failures < attempts ? .failed(entry.failures, seconds: seconds) : .givenUp
    }

    /// 1 s, doubled up to 5 minutes, and half of that at random.
    static func delay(afterTries tries: Int, jitter: Double) -> Double {
        let longest = min(300, Double(1 << min(tries - 1, 10)))
        return longest * (0.5 + jitter / 2)
    }
}

struct HookEvent: Sendable, Equatable {
    var id: Int64
    var session: String
    var type: String
    var job: String?
    /// The finished file, relative to the folder of its location.
    var path: String?
    var location: String?
    /// The document of the event.
    var document: [UInt8]
}

/// How a command ends.
enum HookEnd: Sendable, Equatable {
    case exited(Int32)
    case killed(signal: Int32)
    /// It could not be started; the number of the error.
    case notStarted(Int32)

    /// EX_TEMPFAIL of sysexits.h.
    static let tryLater: Int32 = 75
}
