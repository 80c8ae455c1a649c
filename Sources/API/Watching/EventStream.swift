import Downloads
import Formats
import Foundation
import HTTPServer
import Logging
import Storage

/// One stream of events: a position in the journal that moves on as fast as the reader reads.
///
/// It begins in the database and goes on in memory, and back again where the reader is slower than events come: in both
/// the events behind the position follow in order, so that no event is left out or sent twice. While the reader does not
/// read, the stream reads nothing either; the server's idle timeout closes a stream that is no longer read.
struct EventStream {
    let feed: Feed
    let store: Store
    let log: Logger
    private let query: EventQuery
    private let body: ResponseStream
    private let watcher: Watcher
    private let wantsProgress: Bool
    /// The last event that was sent.
    private var position: EventID
    /// The last round of progress reports that was sent.
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
        /// The position has moved past events that do not match the query.
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
            // The client reconnects and continues from its last event.
            log.error("A stream of events ended: \(error)")
            return .end
        }
    }

    private mutating func reset(_ firstAvailable: EventID) -> Step {
        position = firstAvailable - 1
        return .send(ServerSentEvent.reset(firstAvailable: firstAvailable))
    }

    /// Waits for the next event, or sends a heartbeat when it is due.
    private mutating func rest() async -> Bool {
        let deadline = quietSince + feed.options.heartbeat
        // Events that do not match the query ring, too.
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

extension Feed {
    /// The events behind a position, with the progress as it was at the last of them, read under one lock. So no report of
    /// a job's progress follows the event that ends the job.
    ///
    /// - Parameter round: the last round of progress reports that was sent; nil: progress is not wanted.
    /// - Returns: nil when the journal is to be read.
    func update(_ query: EventQuery, after position: EventID, progressSince round: Int?) -> FeedUpdate? {
        state.withLock { state in
            guard let entries = state.recent.after(position) else { return nil }
            // The database may be ahead of the hook for a moment; the progress reports are too old then.
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
