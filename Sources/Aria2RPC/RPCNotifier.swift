import Base
import Downloads
import Formats
import Storage

/// Sends notifications to subscribers, in the order of the events.
public final class RPCNotifier: Sendable {
    private struct Subscriber: Sendable {
        let isAllowed: @Sendable () -> Bool
        let send: @Sendable ([UInt8]) -> Void
        let end: @Sendable () -> Void
    }

    private struct Notice: Sendable {
        let name: String
        let job: JobID
    }

    private struct State {
        var lastNumber = 0
        var subscribers: [Int: Subscriber] = [:]
    }

    private let session: Name
    private let store: Store
    private let state = Locked(State())
    private let notices: AsyncStream<Notice>
    private let continuation: AsyncStream<Notice>.Continuation

    init(session: Name, store: Store) {
        self.session = session
        self.store = store
        // A subscriber that misses a notification sees the state when it polls.
        (notices, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(10_000))
        store.addCommitObserver { [weak self] in self?.note($0) }
    }

    /// - Parameters:
    ///   - isAllowed: asked before each notification, because a token can be revoked.
    ///   - end: called when notifications can be missing from now on, so that the client connects again.
    /// - Returns: the number to remove the subscriber by.
    public func add(
        isAllowed: @escaping @Sendable () -> Bool, send: @escaping @Sendable ([UInt8]) -> Void,
        end: @escaping @Sendable () -> Void
    ) -> Int {
        let subscriber = Subscriber(isAllowed: isAllowed, send: send, end: end)
        return state.withLock { state in
            state.lastNumber += 1
            state.subscribers[state.lastNumber] = subscriber
            return state.lastNumber
        }
    }

    public func remove(_ number: Int) { state.withLock { $0.subscribers[number] = nil } }

    /// Called on the writer's thread, directly after a commit.
    private func note(_ commit: Commit) {
        guard state.withLock({ !$0.subscribers.isEmpty }) else { return }
        for event in commit.events where event.session == session {
            guard let job = event.job, let name = RPCNotification.name(of: event.type) else { continue }
            continuation.yield(Notice(name: name, job: job))
        }
    }

    public func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.sendNotices() }
            group.addTask {
                await self.store.whileWithoutLease { self.endAll() }
            }
        }
    }

    /// Without its place among the services of the database, this service does not learn of the events of the others.
    private func endAll() {
        for subscriber in state.withLock({ Array($0.subscribers.values) }) { subscriber.end() }
    }

    private func sendNotices() async {
        for await notice in notices {
            // A job that was deleted meanwhile has no identifier any more.
            guard let gid = try? await store.job(notice.job).aria2GID else { continue }
            let text = RPCNotification.text(notice.name, gid)
            for subscriber in state.withLock({ Array($0.subscribers.values) }) where subscriber.isAllowed() {
                subscriber.send(text)
            }
        }
    }
}

/// What subscribers of a WebSocket learn about a download.
enum RPCNotification {
    private static let events: KeyValuePairs<EventType, String> = [
        .jobStarted: "Start", .jobPaused: "Pause", .jobCancelled: "Stop", .jobSucceeded: "Complete",
        .jobFailed: "Error",
    ]

    static let names = events.map { "aria2.onDownload\($0.value)" }

    /// nil for events that aria2 does not have.
    static func name(of type: EventType) -> String? { events.firstIndex { $0.key == type }.map { names[$0] } }

    static func text(_ name: String, _ gid: GID) -> [UInt8] {
        JSON.object(["jsonrpc": "2.0", "method": .string(name), "params": [["gid": .string(gid.description)]]]).bytes
    }
}
