import Downloads
import Formats
import Foundation
import HTTPServer
import Logging
import Storage

/// One stream of events: a position in the journal that advances as fast as the reader reads.
///
/// The stream begins in the database and continues in memory. If the reader falls behind, the stream returns to the
/// database. In both places the events after the position are in order, so no event is omitted or sent twice. While the
/// reader does not read, the stream reads nothing either; the server's idle timeout closes a stream that is no longer
/// read.
struct EventStream {
    let feed: Feed
    let store: Store
    let log: Logger
    private let query: EventQuery
    private let body: ResponseStream
    private let watcher: Watcher
    private let isPermitted: @Sendable () -> Bool
    private let wantsProgress: Bool
    /// The last event that was sent or left out.
    private var position: EventID
    /// The position that the reader has received.
    private var toldPosition: EventID
    /// The last round of progress reports that was sent.
    private var round = 0
    /// Whether the stream has reached the end of the journal. Only then it reads from memory.
    private var isCaughtUp: Bool
    private var quietSince = ContinuousClock.now

    init(
        _ query: EventQuery, feed: Feed, store: Store, body: ResponseStream, watcher: Watcher, log: Logger,
        while isPermitted: @escaping @Sendable () -> Bool
    ) {
        self.feed = feed
        self.store = store
        self.body = body
        self.watcher = watcher
        self.log = log
        self.isPermitted = isPermitted
        self.query = query
        wantsProgress = query.wantsProgress
        let last = feed.lastEvent
        position = query.after ?? last
        toldPosition = position
        isCaughtUp = position == last
    }

    /// Runs until the reader disconnects, the reader's token is no longer valid, the service stops, or `Feed.endWaits` ends
    /// it.
    mutating func run() async {
        defer { body.finish() }
        guard await send(ServerSentEvent.position(position, retry: Self.retryMilliseconds)) else { return }
        // A stream without events notices the end of the permission at its next heartbeat.
        while isPermitted() {
            switch await step() {
            case .send(let bytes): guard await send(bytes) else { return }
            case .moved: continue
            case .wait: guard await rest() else { return }
            case .end: return
            }
        }
    }

    private enum Step {
        case send([UInt8])
        /// The position has moved past events that do not match the query.
        case moved
        case wait
        case end
    }

    private mutating func step() async -> Step {
        guard isCaughtUp, let update = feed.update(query, after: position, progressSince: wantsProgress ? round : nil)
        else { return await readJournal() }
        round = update.round ?? round
        let hasMoved = update.position > position
        position = update.position
        toldPosition = update.events.last?.event.id ?? toldPosition
        let bytes = update.bytes
        if !bytes.isEmpty { return .send(bytes) }
        return hasMoved && !update.isAtEnd ? .moved : .wait
    }

    private mutating func readJournal() async -> Step {
        do {
            var query = query
            query.after = position
            query.limit = Self.pageSize
            let page = try await store.events(query)
            var (bytes, sent): ([UInt8], Int) = ([], 0)
            while sent < page.events.count, bytes.count < Self.pieceSize {
                bytes += ServerSentEvent.frame(page.events[sent])
                sent += 1
            }
            let isWhole = sent == page.events.count
            position = isWhole ? page.nextAfter : page.events[sent - 1].id
            toldPosition = sent > 0 ? page.events[sent - 1].id : toldPosition
            isCaughtUp = isWhole && sent < Self.pageSize
            return bytes.isEmpty ? .moved : .send(bytes)
        } catch .eventsPruned(_, let first) {
            return reset(first)
        } catch .eventsLost(_, let first) {
            return reset(first)
        } catch .noSuchEvent(_, let last) {
            return reset(last + 1)
        } catch {
            // The client reconnects and continues after its last event.
            log.error("A stream of events ended: \(error)")
            return .end
        }
    }

    private mutating func reset(_ firstAvailable: EventID) -> Step {
        (position, toldPosition) = (firstAvailable - 1, firstAvailable - 1)
        return .send(ServerSentEvent.reset(firstAvailable: firstAvailable))
    }

    /// Waits for the next event, or sends a heartbeat when it is due: the position if it has moved, otherwise a comment.
    private mutating func rest() async -> Bool {
        let deadline = quietSince + feed.options.heartbeat
        // Events that do not match the query notify the watcher, too.
        guard .now < deadline else {
            let hasMoved = position != toldPosition
            toldPosition = position
            return await send(hasMoved ? ServerSentEvent.position(position) : ServerSentEvent.heartbeat)
        }
        return await feed.sleep(watcher, until: deadline) != .closed
    }

    private mutating func send(_ bytes: [UInt8]) async -> Bool {
        quietSince = .now
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(feed.options.streamBuffer))
            guard await body.room(for: piece.count), body.write(piece) else { return false }
            rest = rest.dropFirst(piece.count)
        }
        return true
    }

    private static let pageSize = 64
    /// The bytes that wait for the buffer of the stream, up to one event.
    static let pieceSize = 16 << 10
    private static let retryMilliseconds = 2000
}

extension EventQuery {
    /// `job.progress` is not in the journal. It is sent to streams that have no filter by type, or the filter `job.*`.
    var wantsProgress: Bool { types.isEmpty || types.contains { $0.text == "job.*" } }
}

extension Feed {
    /// The events after a position, and the progress of running jobs after these events, read under one lock. So no
    /// progress report of a job follows the event that ends the job.
    ///
    /// - Parameter round: the last round of progress reports that was sent; nil: the stream sends no progress.
    /// - Returns: nil when the events must be read from the database.
    func update(_ query: EventQuery, after position: EventID, progressSince round: Int?) -> FeedUpdate? {
        state.withLock { state in
            guard let entries = state.recent.after(position) else { return nil }
            // The database may be ahead of the hook for a moment. The progress reports are too old in this case.
            let isAhead = position > state.recent.last
            let looked = entries.prefix(Self.updateLimit).prefix(filling: EventStream.pieceSize)
            let isAtEnd = looked.count == entries.count
            let includesProgress = isAtEnd && !isAhead && round != nil
            return FeedUpdate(
                events: looked.filter { query.matches($0.event) },
                progress: includesProgress ? state.progress.since(round ?? 0, query) : [],
                position: isAtEnd ? max(position, state.recent.last) : looked.last?.event.id ?? position,
                round: includesProgress ? state.progress.round : nil, isAtEnd: isAtEnd)
        }
    }

    private static let updateLimit = 256

    /// - Parameters:
    ///   - query: the events to send; without `after`, the stream begins with the next event.
    ///   - isPermitted: the stream ends when it returns false.
    func stream(
        _ query: EventQuery, from store: Store, log: Logger, while isPermitted: @escaping @Sendable () -> Bool
    ) -> ResponseStream {
        var query = query
        query.after = query.after ?? lastEvent
        let scope = Topic.Scope(query)
        let watcher = watcher(of: [.journal(scope)] + (query.wantsProgress ? [.progress(scope)] : []))
        state.withLock { $0.streams += 1 }
        let body = ResponseStream(bufferLimit: options.streamBuffer) { _ in watcher.close() }
        Task { [query] in
            var stream = EventStream(
                query, feed: self, store: store, body: body, watcher: watcher, log: log, while: isPermitted)
            await stream.run()
            dismiss(watcher)
            state.withLock { $0.streams -= 1 }
        }
        return body
    }
}

extension ArraySlice<RecentEvents.Entry> {
    fileprivate func prefix(filling bytes: Int) -> ArraySlice {
        var left = bytes
        return prefix { entry in
            defer { left -= entry.frame?.count ?? entry.event.data.utf8.count }
            return left > 0
        }
    }
}

struct FeedUpdate {
    var events: [RecentEvents.Entry]
    var progress: [[UInt8]]
    var position: EventID
    /// The round of the reports in `progress`; nil when progress is not included.
    var round: Int?
    var isAtEnd: Bool

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        for entry in events { bytes += entry.frame ?? ServerSentEvent.frame(entry.event) }
        for frame in progress { bytes += frame }
        return bytes
    }
}

extension ServerSentEvent {
    static func frame(_ event: Event) -> [UInt8] {
        frame(id: event.id, event: event.type.rawValue, data: event.document)
    }

    /// Replaces status 410 in a stream: events were pruned, and the stream continues with `firstAvailable`.
    static func reset(firstAvailable: EventID) -> [UInt8] {
        frame(id: firstAvailable - 1, event: "reset", data: ["first_available": .integer(firstAvailable)])
    }
}
