import Base
import Downloads
import Foundation
import HTTPTypes
import Storage
import TestKit
import Testing

@testable import API
@testable import HTTPServer

@Suite struct PreferenceTests {
    private func context(_ field: HTTPField.Name, _ value: String) -> RequestContext {
        var head = RequestHead(method: .get, target: "/")
        head.headers[field] = value
        let match = RouteMatch(route: Route(.get, "/", .open) { _ in .noContent }, path: [])
        return RequestContext(request: Request(head: head), match: match, caller: .anonymous)
    }

    @Test(arguments: [
        ("wait=10", 10), ("wait=0", 0), ("wait=31", 30), ("wait=99999999999999999999", 30), ("WAIT = \"5\"", 5),
        ("respond-async, wait=7;x=1", 7), ("wait=3, wait=4", 3), ("return=minimal; wait=9", nil), ("wait", nil),
        ("wait=", nil), ("wait=-1", nil), ("wait=1.5", nil), ("wait=soon", nil), ("waits=3", nil),
    ])
    func readsWaitOfPreferHeader(_ field: String, _ seconds: Int?) {
        #expect(context(.prefer, field).preferredWait == seconds)
    }

    @Test(arguments: [
        ("\"7.3\"", true), ("W/\"7.3\"", true), ("\"1.1\", \"7.3\"", true), ("*", true), ("\"7\"", true),
        ("\"7.4\"", false), ("\"8.3\"", false), ("\"8\"", false), ("7.3", false), ("\"x\"", false), ("", false),
        ("\"7.x\"", false), ("\"7.\"", false), ("\"7.03\"", false), ("\"+7.3\"", false), ("\"07\"", false),
        ("\"7.3.1\"", false), ("\"7.99999999999999999999\"", false),
    ])
    func matchesIfNoneMatchAgainstJobTag(_ field: String, _ isKnown: Bool) throws {
        let tag = try #require(JobETag("\"7.3\""))
        #expect(IfNoneMatch(field).matches(tag) == isKnown)
    }

    @Test func negotiatesEventStreamByAccept() {
        for accept in [
            "text/event-stream", "text/html, TEXT/Event-Stream; q=0.5", "application/json;q=0.5, text/event-stream",
            "text/event-stream, application/json",
        ] {
            #expect(context(.accept, accept).wantsEventStream)
        }
        for accept in [
            "*/*", "application/json", "text/*", "", "text/event-stream;q=0", "text/event-stream; q=0.0",
            "application/json, text/event-stream;q=0.1", "application/json, text/event-stream",
            "application/json, text/event-stream, application/problem+json",
        ] {
            #expect(!context(.accept, accept).wantsEventStream)
        }
    }
}

@Suite struct JobWaitTests {
    /// The version at the beginning is "7.3". The decisions are on "7.3", on "7.4", on "8.0", and on "7.3" at the end.
    @Test(
        arguments: [
            (nil, false, [.keepWaiting, .document, .document, .document]),
            (nil, true, [.document, .document, .document, .document]),
            ("*", false, [.notModified, .notModified, .notModified, .notModified]),
            ("\"7.3\"", false, [.keepWaiting, .document, .document, .notModified]),
            ("\"7.3\"", true, [.keepWaiting, .document, .document, .notModified]),
            ("\"7\"", false, [.keepWaiting, .keepWaiting, .document, .notModified]),
            ("\"6.1\"", false, [.document, .document, .document, .document]),
            ("\"6.1\", \"7.4\"", false, [.document, .keepWaiting, .document, .document]),
        ] as [(String?, Bool, [JobWait.Decision])])
    func endsTheWait(knowing field: String?, isTerminal: Bool, _ decisions: [JobWait.Decision]) throws {
        let tags = try ["\"7.3\"", "\"7.4\"", "\"8.0\""].map { try #require(JobETag($0)) }
        let wait = JobWait(knowing: field.map { IfNoneMatch($0) }, first: tags[0], isTerminal: isTerminal)
        func decision(_ tag: JobETag, isLast: Bool) -> JobWait.Decision {
            wait.decision(on: tag, isTerminal: isTerminal, isLast: isLast)
        }
        let found = tags.map { decision($0, isLast: false) } + [decision(tags[0], isLast: true)]
        #expect(found == decisions)
    }

    /// The decisions on a job that runs, and on one that has ended, each before the end of the wait and at it.
    @Test(
        arguments: [
            (nil, [.keepWaiting, .document, .document, .document]),
            ("\"7.3\"", [.keepWaiting, .notModified, .notModified, .notModified]),
            ("\"6.1\"", [.keepWaiting, .document, .document, .document]),
            ("*", [.keepWaiting, .notModified, .notModified, .notModified]),
        ] as [(String?, [JobWait.Decision])])
    func waitsForTheEndThroughEveryChange(knowing field: String?, _ decisions: [JobWait.Decision]) throws {
        let (first, later) = (try #require(JobETag("\"7.3\"")), try #require(JobETag("\"8.0\"")))
        let wait = JobWait(knowing: field.map { IfNoneMatch($0) }, first: first, isTerminal: false, isForEnd: true)
        #expect(wait.decision(on: later, isTerminal: false, isLast: false) == .keepWaiting)
        let found = [false, true].flatMap { isLast in
            [false, true].map { wait.decision(on: first, isTerminal: $0, isLast: isLast) }
        }
        #expect(found == decisions)
    }
}

@Suite struct LongPollTests {
    private func request(
        _ finding: @escaping @Sendable (Bool) -> LongPoll.CheckResult, settling replies: Replies
    ) -> LongPoll {
        LongPoll(
            LongPoll.Wait(
                topics: [], duration: .zero, check: finding,
                askStore: { isLast in isLast ? .response(Response(status: .notFound)) : nil })
        ) { replies.append($0) }
    }

    private final class Replies: Sendable {
        private let all = Locked<[HTTPResponse.Status]>([])
        func append(_ reply: CachedResponse) {
            if case .response(let response) = reply { all.withLock { $0.append(response.status) } }
        }
        var statuses: [HTTPResponse.Status] { all.withLock { $0 } }
    }

    @Test func checksAtEachChangeAndRespondsAtTheDeadline() {
        let replies = Replies()
        let request = request({ $0 ? .response(.response(.noContent)) : .keepWaiting }, settling: replies)
        request.notify()
        request.notify()
        #expect(replies.statuses.isEmpty)
        request.expire()
        #expect(replies.statuses == [.noContent])
        request.close()
        #expect(replies.statuses == [.noContent, .noContent])
    }

    @Test func asksTheStoreWhenMemoryHasNoAnswer() async throws {
        let replies = Replies()
        let request = request({ _ in .askStore }, settling: replies)
        request.notify()
        request.expire()
        _ = try await eventually("a reply of the store") { replies.statuses.isEmpty ? nil : true }
        #expect(replies.statuses == [.notFound])
    }
}

@Suite struct FeedStateTests {
    /// Another node does not say which jobs it has changed if there are many.
    @Test func commitOfAnyJobRingsEveryWatcherOfAJob() {
        let (first, second) = (Topic.job(JobID("job_a")), Topic.job(JobID("job_b")))
        var state = Feed.State(recent: RecentEvents(after: 0, limits: (10, 1000)))
        for topic in [first, second, .journal(.everything)] {
            let watcher = Watcher(of: [topic])
            state.watchers[topic] = [ObjectIdentifier(watcher): watcher]
        }
        var commit = Commit()
        commit.jobs = [JobID("job_b"), JobID("job_c")]
        state.note(commit)
        #expect(state.pending == [second])
        commit = Commit()
        commit.hasAnyJob = true
        state.note(commit)
        #expect(state.pending == [first, second])
    }
}

@Suite struct RecentEventsTests {
    private func event(_ id: EventID, _ data: String = "{}") -> Event {
        Event(id: id, type: .jobCreated, time: .now, session: .default, job: JobID("job_\(id)"), data: data)
    }

    private func recent(_ ids: some Sequence<EventID>, events: Int = 10, bytes: Int = 1 << 20) -> RecentEvents {
        var recent = RecentEvents(after: 100, limits: (events, bytes))
        for id in ids { recent.append(event(id), frame: nil) }
        return recent
    }

    @Test func returnsEventsAfterPosition() {
        // Event numbers may have gaps.
        let recent = recent([101, 102, 105, 106])
        func after(_ position: EventID) -> [EventID]? { recent.after(position)?.map(\.event.id) }
        #expect(after(99) == nil)
        #expect(after(100) == [101, 102, 105, 106])
        #expect(after(103) == [105, 106])
        #expect(after(106) == [])
        #expect(after(900) == [])
        #expect(recent.last == 106)
    }

    /// A position before the gap can be that of a lost event, which only the database knows.
    @Test func forgetsTheEventsBeforeAGapOfLostEvents() {
        let next = 102 + Store.gapAfterLostEvents + 1
        let recent = recent([101, 102, next, next + 1])
        #expect(recent.after(102) == nil && recent.after(next - 2) == nil)
        #expect(recent.after(next - 1)?.map(\.event.id) == [next, next + 1])
        #expect(recent.last == next + 1)
    }

    @Test func keepsAtMostMaximumEvents() {
        for count: EventID in [10, 11, 25, 1000] {
            let recent = recent(101...100 + count)
            #expect(recent.after(90 + count)?.map(\.event.id) == Array((91 + count)...(100 + count)))
            #expect(recent.after(89 + count) == nil)
            #expect(recent.floor == 90 + count)
        }
    }

    @Test func keepsAtMostMaximumBytes() {
        var recent = recent([], events: 100, bytes: 10_000)
        for id: EventID in 101...200 { recent.append(event(id, String(repeating: "x", count: 2000)), frame: nil) }
        #expect(recent.after(196)?.count == 4)
        #expect(recent.after(195) == nil)
        // An event that is too large by itself is not kept either.
        recent.append(event(201, String(repeating: "x", count: 20_000)), frame: nil)
        #expect(recent.after(200) == nil)
        #expect(recent.after(201)?.isEmpty == true)
        recent.append(event(202), frame: nil)
        #expect(recent.after(201)?.count == 1)
    }
}

@Suite struct WatcherTests {
    @Test func keepsRingFromBeforeSleep() async {
        let watcher = Watcher(of: [])
        watcher.notify()
        watcher.notify()
        #expect(await watcher.sleep() == .notified)
        watcher.expire()
        watcher.notify()
        // A ring has precedence over the deadline.
        #expect(await watcher.sleep() == .notified)
        async let waking = watcher.sleep()
        watcher.expire()
        #expect(await waking == .overdue)
    }

    @Test func returnsClosedFromSleepAfterCloseOrCancellation() async {
        let watcher = Watcher(of: [])
        async let waking = watcher.sleep()
        watcher.close()
        #expect(await waking == .closed)
        watcher.notify()
        #expect(await watcher.sleep() == .closed)
        let cancelled = Watcher(of: [])
        let task = Task { await cancelled.sleep() }
        task.cancel()
        #expect(await task.value == .closed)
    }

    @Test func firesEachDeadlineOnce() {
        var timers = TimerWheel()
        let watchers = (0..<4).map { _ in Watcher(of: []) }
        #expect(timers.take(through: 3).isEmpty)
        #expect(timers.add(watchers[0], at: 5) == 5)
        // A deadline in the past fires at the next step.
        #expect(timers.add(watchers[1], at: 1) == 4)
        #expect(timers.add(watchers[2], at: 900) == 900)
        _ = timers.add(watchers[3], at: 5)
        timers.remove(watchers[3], at: 5)
        #expect(timers.take(through: 4).map(ObjectIdentifier.init) == [ObjectIdentifier(watchers[1])])
        #expect(timers.take(through: 700).map(ObjectIdentifier.init) == [ObjectIdentifier(watchers[0])])
        #expect(timers.take(through: 700).isEmpty)
        #expect(timers.take(through: 1_000_000).count == 1)
    }
}
