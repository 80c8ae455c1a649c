import Base
import Downloads
import Engine
import Formats
import Foundation
import HTTPServer
import Storage

/// Delivers committed changes to waiting requests and to streams of events.
///
/// The writer's hook records each commit here, in commit order, and does nothing else; the pump wakes the watchers of
/// the changed topics. A stream has no queue. It is a position in the journal, and continues from memory, or from the
/// database if it has fallen behind. So a slow reader costs no memory, and ten thousand slow readers do not hold the
/// lock for long.
public final class Feed: Sendable {
    public struct Options: Sendable {
        /// Minimum time between two reports of a job's progress.
        public var progressInterval: Duration = .milliseconds(250)
        /// A stream without events sends a heartbeat after this time.
        public var heartbeat: Duration = .seconds(15)
        /// Maximum number of bytes that wait for the reader of a stream. The stream reads no more events meanwhile.
        public var streamBuffer = 16 << 10
        /// Maximum number of events that are kept in memory, and their maximum size in bytes.
        public var recentEvents = 4096
        public var recentBytes = 8 << 20

        public init() {}
    }

    struct State {
        var recent: RecentEvents
        var progress = ProgressReports()
        /// The jobs with a running attempt, as of the last event. Only their progress may be reported.
        var running: Set<JobID> = []
        /// The jobs that have ended since the feed was made; nil after `running` has those that others had begun before.
        var ended: Set<JobID>?
        var watchers: [Topic: [ObjectIdentifier: any TopicObserver]] = [:]
        /// The changed topics since the last round of the pump. Only topics with watchers are recorded.
        var pending: Set<Topic> = []
        var timers = TimerWheel()
        var watching = 0
        var streams = 0
        var isClosed = false

        mutating func note(_ topic: Topic) { if watchers[topic] != nil { pending.insert(topic) } }
    }

    let options: Options
    let store: Store
    let engine: Engine
    let state: Locked<State>
    let pumpDue = AsyncAutoResetEvent()
    let clockDue = AsyncAutoResetEvent()
    let beginning = ContinuousClock.now

    public init(options: Options = Options(), store: Store, engine: Engine) {
        self.options = options
        self.store = store
        self.engine = engine
        let limits = (events: options.recentEvents, bytes: options.recentBytes)
        // On SQLite no job runs before this service begins it.
        let ended: Set<JobID>? = store.sharesDatabase ? [] : nil
        state = Locked(State(recent: RecentEvents(after: 0, limits: limits), ended: ended))
        // Other services may commit before and after this call.
        state.withLock { state in
            let last = store.addCommitObserver { [weak self] in self?.note($0) }
            state.recent = RecentEvents(after: last, limits: limits)
        }
    }

    /// Ends every wait with the present state, and prevents new waits.
    public func close() {
        state.withLock { $0.isClosed = true }
        endWaits()
    }

    /// Ends every present wait and stream. New ones are possible.
    func endWaits() {
        let watchers = state.withLock { $0.watchers.values.flatMap(\.values) }
        for watcher in watchers { watcher.close() }
    }

    /// Called on the writer's thread, directly after a commit.
    private func note(_ commit: Commit) {
        let isDue = state.withLock { state in
            state.note(commit)
            return !state.pending.isEmpty
        }
        if isDue { pumpDue.set() }
    }
}

extension Feed.State {
    mutating func note(_ commit: Commit) {
        for event in commit.events { note(event) }
        guard !watchers.isEmpty else { return }
        for job in commit.jobs { note(.job(job)) }
        if commit.hasAnyJob { pending.formUnion(watchers.keys.filter(\.isJob)) }
    }

    private mutating func note(_ event: Event) {
        recent.append(event, frame: streams > 0 ? ServerSentEvent.frame(event) : nil)
        if let job = event.job {
            if event.type == .jobStarted {
                running.insert(job)
                ended?.remove(job)
            }
            if event.type.endsProgress {
                running.remove(job)
                ended?.insert(job)
                progress.end(of: job)
            }
        }
        guard !watchers.isEmpty else { return }
        for scope in Topic.Scope.holding(event.session, event.job) { note(.journal(scope)) }
    }

    /// Adds jobs that were running in the database after the feed was made. Those that have ended since are left out.
    mutating func add(running jobs: [JobID]) {
        running.formUnion(jobs.filter { ended?.contains($0) == false })
        ended = nil
    }

    fileprivate mutating func insert(_ observer: any TopicObserver) {
        for topic in observer.topics { watchers[topic, default: [:]][ObjectIdentifier(observer)] = observer }
        watching += 1
    }

    fileprivate mutating func remove(_ observer: any TopicObserver) {
        for topic in observer.topics {
            watchers[topic]?[ObjectIdentifier(observer)] = nil
            if watchers[topic]?.isEmpty == true { watchers[topic] = nil }
        }
        watching -= 1
    }
}

extension Feed {
    /// Makes a watcher that a change of these topics notifies. The caller must pass it to `dismiss(_:)` at the end.
    func watcher(of topics: [Topic]) -> Watcher {
        let watcher = Watcher(of: topics)
        let isClosed = state.withLock { state in
            state.insert(watcher)
            return state.isClosed
        }
        if isClosed { watcher.close() }
        clockDue.set()
        return watcher
    }

    func dismiss(_ watcher: Watcher) { state.withLock { $0.remove(watcher) } }

    /// - Parameters:
    ///   - deadline: when the request is answered without a change.
    func add(_ request: LongPoll, until deadline: ContinuousClock.Instant, _ pending: DeferredResponse) {
        let (tick, isClosed) = state.withLock { state in
            state.insert(request)
            return (state.timers.add(request, at: ticks(until: deadline) + 1), state.isClosed)
        }
        pending.observe(
            onDisconnect: { request.close() },
            onSettled: { [self] in
                state.withLock { state in
                    state.timers.remove(request, at: tick)
                    state.remove(request)
                }
            })
        clockDue.set()
        // A change that came before the request was inserted did not notify it.
        isClosed ? request.close() : request.notify()
    }

    var watching: (waits: Int, streams: Int) { state.withLock { (max(0, $0.watching - $0.streams), $0.streams) } }

    func sleep(_ watcher: Watcher, until deadline: ContinuousClock.Instant) async -> Watcher.Waking {
        let tick = state.withLock { $0.timers.add(watcher, at: ticks(until: deadline) + 1) }
        let waking = await watcher.sleep()
        state.withLock { $0.timers.remove(watcher, at: tick) }
        return waking
    }

    /// The number of clock ticks from the start of the feed to a moment, rounded down.
    func ticks(until moment: ContinuousClock.Instant) -> Int { Int((moment - beginning) / tick) }

    var tick: Duration { options.progressInterval / 2 }

    var lastEvent: EventID { state.withLock { $0.recent.last } }

    /// A page from memory; nil when memory no longer has all events after the position.
    func page(_ query: EventQuery) -> EventPage? {
        state.withLock { state in
            let position = query.after ?? 0
            guard let entries = state.recent.after(position) else { return nil }
            let events = entries.lazy.map(\.event).filter(query.matches).prefix(query.limit)
            let page = Array(events)
            let isWhole = page.count < query.limit
            return EventPage(
                events: page, nextAfter: isWhole ? max(position, state.recent.last) : page.last?.id ?? position)
        }
    }
}

extension EventType {
    fileprivate var endsProgress: Bool {
        switch self {
        case .jobSucceeded, .jobFailed, .jobCancelled, .jobDeleted, .jobPaused, .jobWaiting: true
        case .jobCreated, .jobMoved, .jobStarted, .jobResumed, .jobRestarted, .sessionWaiting, .sessionFinished,
            .webhookDisabled, .webhookTest:
            false
        }
    }
}

/// A subject that a watcher can watch. A change wakes only the watchers of its topics.
enum Topic: Hashable {
    case journal(Scope)
    case progress(Scope)
    case job(JobID)

    var isJob: Bool { if case .job = self { true } else { false } }

    enum Scope: Hashable {
        case everything
        case session(Name)
        case job(JobID)
    }
}

extension Topic.Scope {
    init(_ query: EventQuery) { self = query.job.map(Self.job) ?? query.session.map(Self.session) ?? .everything }

    static func holding(_ session: Name, _ job: JobID?) -> [Topic.Scope] {
        [.everything, .session(session)] + (job.map { [.job($0)] } ?? [])
    }
}

/// The last events of the journal in memory, for streams and waiting requests. Their number is limited: a reader that
/// has fallen behind reads the database until it has caught up.
struct RecentEvents {
    struct Entry {
        let event: Event
        /// The event as streams send it; nil when no stream was open at its commit.
        let frame: [UInt8]?

        var size: Int { event.data.utf8.count + (frame?.count ?? 0) + 256 }
    }

    /// The last event of the journal. Every event after `floor` is in memory.
    private(set) var last: EventID
    private(set) var floor: EventID
    private var entries: [Entry] = []
    /// The index of the first entry. Entries before it were dropped, and are removed from time to time.
    private var start = 0
    private var bytes = 0
    private let limits: (events: Int, bytes: Int)

    init(after last: EventID, limits: (events: Int, bytes: Int)) {
        self.last = last
        floor = last
        self.limits = limits
    }

    /// - Parameter event: must be later than all events before.
    mutating func append(_ event: Event, frame: [UInt8]?) {
        // Events were lost: the database tells it to a client whose position is in the gap.
        if event.id - last > Store.gapAfterLostEvents { dropAll(before: event.id) }
        let entry = Entry(event: event, frame: frame)
        entries.append(entry)
        bytes += entry.size
        last = event.id
        while entries.count - start > limits.events || bytes > limits.bytes { dropFirst() }
        if start > limits.events {
            entries.removeFirst(start)
            start = 0
        }
    }

    private mutating func dropAll(before id: EventID) {
        (entries, start, bytes) = ([], 0, 0)
        floor = id - 1
    }

    private mutating func dropFirst() {
        bytes -= entries[start].size
        floor = entries[start].event.id
        // The slot stays for a while, but its content is freed.
        entries[start] = Entry(event: .dropped, frame: nil)
        start += 1
    }

    /// The events after a position; nil when some of them are no longer in memory.
    func after(_ position: EventID) -> ArraySlice<Entry>? {
        guard position >= floor else { return nil }
        var (low, high) = (start, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].event.id > position { high = middle } else { low = middle + 1 }
        }
        return entries[low...]
    }
}

extension Event {
    fileprivate static let dropped = Event(
        id: 0, type: .jobCreated, time: .distantPast, session: .default, job: nil, data: "")
}
