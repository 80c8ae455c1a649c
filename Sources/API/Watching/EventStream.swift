import Downloads
import Formats
import Foundation
import HTTPServer
import Logging
import Storage

/// One stream of events: a position in the journal that moves on as fast as the reader reads.
///
/// It begins in the database and goes on in memory, and back again where the reader is slower than events come: in both
/// what is behind the position follows in order, so that nothing is left out or told twice. While the reader does not
/// read, nothing is read for him; who stops reading altogether is closed by the server's idle timeout.
struct EventStream {
    let feed: Feed
    let store: Store
    let log: Logger
    private let query: EventQuery
    private let body: ResponseStream
    private let watcher: Watcher
    private let wantsProgress: Bool
    /// Everything up to here was told.
    private var position: EventID
    /// Up to this round of the clock, progress was told.
    private var round = 0
    /// Whether the end of the journal was reached; only then is it read from memory.
    private var isCaughtUp: Bool
    /// When something was last sent.
    private var quietSince = ContinuousClock.now

    init(_ query: EventQuery, feed: Feed, store: Store, body: ResponseStream, watcher: Watcher, log: Logger) {
        (self.feed, self.store, self.body, self.watcher, self.log) = (feed, store, body, watcher, log)
        self.query = query
        wantsProgress = query.wantsProgress
        let last = feed.lastEvent
        position = query.after ?? last
        isCaughtUp = position == last
    }

    /// Runs until the reader is gone or the service stops.
    mutating func run() async {
        defer { body.finish() }
        guard await send(ServerSentEvent.opening(at: position, retry: Self.retryMilliseconds)) else { return }
        while true {
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
        /// Nothing of it is for this reader.
        case moved
        case wait
        case end
    }

    private mutating func step() async -> Step {
        guard isCaughtUp, let update = feed.update(query, after: position, progressSince: wantsProgress ? round : nil)
        else {
            return await readJournal()
        }
        round = update.round ?? round
        let hasMoved = update.position > position
        position = update.position
        let bytes = update.bytes
        if !bytes.isEmpty { return .send(bytes) }
        return hasMoved && !update.isAtEnd ? .moved : .wait
    }

    /// Catching up: the next page of what is behind the position.
    private mutating func readJournal() async -> Step {
        do {
            var query = query
            query.after = position
            query.limit = Self.pageSize
            let page = try await store.events(query)
            position = page.nextAfter
            isCaughtUp = page.events.count < Self.pageSize
            return page.events.isEmpty ? .moved : .send(page.events.flatMap(ServerSentEvent.frame))
        } catch .eventsPruned(_, let first) {
            return reset(first)
        } catch .noSuchEvent(_, let last) {
            return reset(last + 1)
        } catch {
            // The client comes again, and goes on where it was.
            log.error("A stream of events ended: \(error)")
            return .end
        }
    }

    private mutating func reset(_ firstAvailable: EventID) -> Step {
        position = firstAvailable - 1
        return .send(ServerSentEvent.reset(firstAvailable: firstAvailable))
    }

    /// Until there is something, or it is time to say that there is nothing.
    private mutating func rest() async -> Bool {
        let deadline = quietSince + feed.options.heartbeat
        // Others' events may ring all the time.
        guard .now < deadline else { return await send(ServerSentEvent.heartbeat(at: position)) }
        return await feed.sleep(watcher, until: deadline) != .closed
    }

    /// In pieces that fit into what may wait for the reader.
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

    private static let pageSize = 200
    private static let retryMilliseconds = 2000
}

extension EventQuery {
    /// `job.progress` is no event of the journal, but one of a job to those who listen.
    var wantsProgress: Bool { type.map { $0.text == "job.*" } ?? true }
}

/// What a stream has to tell next.
struct FeedUpdate {
    var events: [RecentEvents.Entry]
    var progress: [[UInt8]]
    var position: EventID
    /// Up to which round progress is told hereby; nil: of none.
    var round: Int?
    /// Whether there was nothing more at that moment.
    var isAtEnd: Bool

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        for entry in events { bytes += entry.frame ?? ServerSentEvent.frame(entry.event) }
        for frame in progress { bytes += frame }
        return bytes
    }
}

extension Feed {
    /// What follows a position, in one look: what is told of a job's progress was so at the end of these events, and so
    /// never comes after the event that the job has ended with.
    ///
    /// - Parameter round: up to which progress was told; nil where it is not wanted.
    /// - Returns: nil when the journal is to be read.
    func update(_ query: EventQuery, after position: EventID, progressSince round: Int?) -> FeedUpdate? {
        state.withLock { state in
            guard let entries = state.recent.after(position) else { return nil }
            // The database may be ahead of the hook for a moment; what is told of progress then is too old.
            let isAhead = position > state.recent.last
            let looked = entries.prefix(Self.updateLimit)
            let isAtEnd = looked.count == entries.count
            let tellsProgress = isAtEnd && !isAhead && round != nil
            return FeedUpdate(
                events: looked.filter { query.matches($0.event) },
                progress: tellsProgress ? state.progress.since(round ?? 0, query) : [],
                position: isAtEnd ? max(position, state.recent.last) : looked.last?.event.id ?? position,
                round: tellsProgress ? state.progress.round : nil, isAtEnd: isAtEnd)
        }
    }

    private static let updateLimit = 256

    /// Begins a stream, and returns its body.
    ///
    /// - Parameter query: what to tell; without `after`, from this moment on.
    func stream(_ query: EventQuery, from store: Store, log: Logger) -> ResponseStream {
        var query = query
        query.after = query.after ?? lastEvent
        let scope = Topic.Scope(query)
        let watcher = watcher(of: [.journal(scope)] + (query.wantsProgress ? [.progress(scope)] : []))
        state.withLock { $0.streams += 1 }
        let body = ResponseStream(bufferLimit: options.streamBuffer) { _ in watcher.close() }
        Task { [query] in
            var stream = EventStream(query, feed: self, store: store, body: body, watcher: watcher, log: log)
            await stream.run()
            dismiss(watcher)
            state.withLock { $0.streams -= 1 }
        }
        return body
    }
}
