import Downloads
import Engine
import Formats
import Foundation
import Storage

/// The two tasks of the feed. The pump wakes the watchers of the changed topics. The clock wakes the watchers whose
/// deadline has passed, and reports the progress of running jobs.
extension Feed {
    public func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.pump() }
            group.addTask { await self.tick() }
            group.addTask { await self.noteRunningJobs() }
            // The clients continue at another service of the database.
            group.addTask {
                await self.store.whileWithoutLease { self.endWaits() }
            }
        }
    }

    /// Reads which jobs other services had begun before this one started: no later event says that they run.
    private func noteRunningJobs() async {
        while !Task.isCancelled, state.withLock({ $0.ended != nil }) {
            if let jobs = try? await store.runningJobs() {
                state.withLock { $0.add(running: jobs) }
            } else {
                // The database is away.
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }

    private func pump() async {
        while !Task.isCancelled {
            await pumpDue.wait(until: nil, by: SystemTime())
            let woken = state.withLock { $0.takeWoken() }
            for (index, watcher) in woken.enumerated() {
                watcher.notify()
                if index % Self.fewWatchers == 0 { await Task.yield() }
            }
            // Each watcher wakes a connection. With more watchers the pause is longer, so that more commits
            // share a round.
            if woken.count > Self.fewWatchers { try? await Task.sleep(for: Self.pausePerWatcher * woken.count) }
        }
    }

    private static let fewWatchers = 64
    private static let pausePerWatcher = Duration.microseconds(20)

    private func tick() async {
        var reported: [JobID: LiveProgress] = [:]
        var nextReport = ContinuousClock.now
        while !Task.isCancelled {
            guard state.withLock({ $0.isWatched() }) else {
                reported = [:]
                await clockDue.wait(until: nil, by: SystemTime())
                continue
            }
            try? await Task.sleep(for: tick)
            let now = ContinuousClock.now
            let overdue = state.withLock { $0.timers.take(through: ticks(until: now)) }
            for watcher in overdue { watcher.expire() }
            guard now >= nextReport else { continue }
            report(&reported)
            nextReport = now + reportInterval
        }
    }

    /// The interval is longer with many streams: progress must not cost more than the downloads.
    private var reportInterval: Duration {
        max(options.progressInterval, .microseconds(500) * state.withLock { $0.streams })
    }

    private func report(_ reported: inout [JobID: LiveProgress]) {
        // An event after this position may end a job whose progress is being read below.
        let position = lastEvent
        let running = engine.progressOfRunning()
        let moved = running.filter { reported[$0.job] != $0.live }
        let frames = moved.map { ServerSentEvent.frame(event: "job.progress", data: $0.document) }
        reported = Dictionary(running.map { ($0.job, $0.live) }) { $1 }
        let isDue = state.withLock { state in
            state.progress.keep(only: Set(reported.keys))
            guard !moved.isEmpty, let settled = state.jobsNoted(after: position) else { return false }
            state.progress.beginRound()
            for (job, frame) in zip(moved, frames) where state.running.contains(job.job) && !settled.contains(job.job) {
                state.progress.add(job.job, job.session, frame)
                for scope in Topic.Scope.holding(job.session, job.job) { state.note(.progress(scope)) }
                state.note(.job(job.job))
            }
            return !state.pending.isEmpty
        }
        if isDue { pumpDue.set() }
    }
}

extension Feed.State {
    /// Without watchers no progress is read, and the old reports are dropped, because they would be outdated for the
    /// next watcher.
    fileprivate mutating func isWatched() -> Bool {
        if watchers.isEmpty { progress.keep(only: []) }
        return !watchers.isEmpty
    }

    fileprivate mutating func takeWoken() -> [any TopicObserver] {
        defer { pending = [] }
        var woken: [ObjectIdentifier: any TopicObserver] = [:]
        for topic in pending { woken.merge(watchers[topic] ?? [:]) { first, _ in first } }
        return Array(woken.values)
    }

    /// The jobs that have an event after a position; nil when memory no longer has all events after it.
    fileprivate func jobsNoted(after position: EventID) -> Set<JobID>? {
        recent.after(position).map { Set($0.compactMap(\.event.job)) }
    }
}

extension RunningJob {
    var document: JSON {
        [
            "job": .string(job.text), "session": .string(session.text), "phase": .string(live.phase.rawValue),
            "progress": live.document,
        ]
    }
}

/// The latest progress of each running job, for streams. A slow reader gets fewer reports, but never outdated ones.
struct ProgressReports {
    struct Report {
        let session: Name
        let frame: [UInt8]
        let round: Int
    }

    private var reports: [JobID: Report] = [:]
    private(set) var round = 0

    mutating func beginRound() { round += 1 }

    mutating func add(_ job: JobID, _ session: Name, _ frame: [UInt8]) {
        reports[job] = Report(session: session, frame: frame, round: round)
    }

    mutating func end(of job: JobID) { reports[job] = nil }

    mutating func keep(only running: Set<JobID>) { reports = reports.filter { running.contains($0.key) } }

    func since(_ round: Int, _ query: EventQuery) -> [[UInt8]] {
        guard self.round > round else { return [] }
        let candidates = query.job.map { job in reports[job].map { [$0] } ?? [] } ?? Array(reports.values)
        return candidates.filter { report in
            report.round > round && (query.session == nil || query.session == report.session)
                && query.visible.contain(report.session)
        }.map(\.frame)
    }
}

/// A timer wheel: the deadlines of watchers, grouped by ticks of the feed's clock. Thousands of deadlines cost one
/// look-up for each tick.
struct TimerWheel {
    private var sleepers: [Int: [ObjectIdentifier: any TopicObserver]] = [:]
    /// The last tick whose watchers were taken.
    private var past = -1

    /// - Parameter tick: the first tick after the deadline.
    mutating func add(_ watcher: any TopicObserver, at tick: Int) -> Int {
        let tick = max(tick, past + 1)
        sleepers[tick, default: [:]][ObjectIdentifier(watcher)] = watcher
        return tick
    }

    mutating func remove(_ watcher: any TopicObserver, at tick: Int) {
        guard tick > past else { return }
        sleepers[tick]?[ObjectIdentifier(watcher)] = nil
        if sleepers[tick]?.isEmpty == true { sleepers[tick] = nil }
    }

    mutating func take(through tick: Int) -> [any TopicObserver] {
        guard tick > past else { return [] }
        defer { past = tick }
        // Iterates over the smaller set: the passed ticks, or the ticks that have a watcher.
        let due =
            tick - past <= sleepers.count
            ? Array((past + 1)...tick) : sleepers.keys.filter { $0 <= tick }
        return due.flatMap { sleepers.removeValue(forKey: $0).map { Array($0.values) } ?? [] }
    }
}
