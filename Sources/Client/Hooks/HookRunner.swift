import Base
import Formats
import Foundation
import Glibc

/// Runs a command for each event of a consumer. The service keeps the position, so that an event whose command has not ended with
/// success is there again after any interruption.
///
/// One task takes all signals in their order. What takes time (reading events, commands, acknowledgements) runs beside it, and sends
/// a signal at its end.
struct HookRunner {
    struct Options: Sendable {
        var consumer: String
        var concurrency: Int
        var attempts: Int
    }

    private enum Signal: Sendable {
        case events([HookEvent])
        case ended(HookEvent, HookEnd)
        case acknowledged
        case timeHasCome
        case stop
        case failed(any Error)
    }

    private let service: RemoteService
    private let options: Options
    private let process: HookProcess
    private let report: @Sendable (HookEvent, HookEnd, HookQueue.Verdict) -> Void
    private let console: Console
    private let signals: AsyncStream<Signal>
    private let send: AsyncStream<Signal>.Continuation

    /// The events that are in hand at most. Further ones are read when there is room.
    private static let room = 1000

    init(
        _ service: RemoteService, _ options: Options, _ process: HookProcess, _ console: Console,
        report: @escaping @Sendable (HookEvent, HookEnd, HookQueue.Verdict) -> Void
    ) {
        self.service = service
        self.options = options
        self.process = process
        self.console = console
        self.report = report
        (signals, send) = AsyncStream.makeStream()
    }

    /// Runs until the task is cancelled. Commands that run then are waited for, and acknowledged.
    func run() async throws {
        try await withTaskCancellationHandler {
            try await Task { try await loop() }.value
        } onCancel: {
            send.yield(.stop)
        }
        try Task.checkCancellation()
    }

    private func loop() async throws {
        var state = State(queue: HookQueue(concurrency: options.concurrency, attempts: options.attempts))
        defer { state.stopReading() }
        read(&state)
        for await signal in signals {
            switch signal {
            case .events(let events):
                state.reading = nil
                state.queue.add(events)
            case .ended(let event, let end): try note(event, end, &state)
            case .acknowledged: state.isAcknowledging = false
            case .timeHasCome: state.timer = nil
            case .stop:
                state.isStopping = true
                state.stopReading()
            case .failed(let error): throw error
            }
            acknowledge(&state)
            guard !state.isStopping else {
                if state.queue.running == 0, !state.isAcknowledging, state.unsent.isEmpty { return }
                continue
            }
            start(&state)
            read(&state)
        }
    }

    private struct State {
        var queue: HookQueue
        var unsent = Acknowledgement()
        var isAcknowledging = false
        var isStopping = false
        var reading: Task<Void, Never>?
        var timer: (at: Double, task: Task<Void, Never>)?
        let position = Locked<Int64?>(nil)

        mutating func stopReading() {
            reading?.cancel()
            timer?.task.cancel()
        }
    }

    struct Acknowledgement: Sendable {
        var events: [Int64] = []
        var givenUp: [Int64] = []

        var isEmpty: Bool { events.isEmpty && givenUp.isEmpty }
        var body: JSON {
            ["events": .array(events.map { .integer($0) }), "given_up": .array(givenUp.map { .integer($0) })]
        }

        /// Takes as many as one request may have.
        mutating func takeSome() -> Acknowledgement {
            let some = Acknowledgement(events: Array(events.prefix(1000)), givenUp: Array(givenUp.prefix(1000)))
            events.removeFirst(some.events.count)
            givenUp.removeFirst(some.givenUp.count)
            return some
        }
    }

    // MARK: Commands

    private func start(_ state: inout State) {
        let now = Self.uptime
        while let event = state.queue.next(at: now) {
            Task { [process, send] in send.yield(.ended(event, await process.run(event))) }
        }
        guard let next = state.queue.nextTry, next > now, state.queue.running < options.concurrency,
            state.timer.map({ next < $0.at }) ?? true
        else { return }
        state.timer?.task.cancel()
        let task = Task { [send] in
            try? await Task.sleep(for: .seconds(next - now))
            if !Task.isCancelled { send.yield(.timeHasCome) }
        }
        state.timer = (next, task)
    }

    /// - Throws: if there is no such command. It is no fault of the event.
    private func note(_ event: HookEvent, _ end: HookEnd, _ state: inout State) throws {
        if case .notStarted(let error) = end, [ENOENT, EACCES, ENOTDIR, ENOEXEC].contains(error) {
            let command = Printable(process.command[0])
            throw ClientError(
                .misconfigured, "The command cannot be started",
                "\(command) cannot be started: \(String(cString: strerror(error))). No event is acknowledged.")
        }
        let verdict = state.queue.end(of: event.session, end, at: Self.uptime, jitter: .random(in: 0...1))
        switch verdict {
        case .done: state.unsent.events.append(event.id)
        case .givenUp: state.unsent.givenUp.append(event.id)
        case .delayed, .failed: break
        }
        report(event, end, verdict)
    }

    /// Seconds.
    private static var uptime: Double { ProcessInfo.processInfo.systemUptime }

    // MARK: The service

    private func acknowledge(_ state: inout State) {
        guard !state.isAcknowledging, !state.unsent.isEmpty else { return }
        state.isAcknowledging = true
        let some = state.unsent.takeSome()
        Task {
            do {
                let path = RequestPath("consumers", options.consumer, "acknowledge")
                _ = try await service.answer(console) { () throws(ClientError) in
                    try await service.send("POST", path, some.body)
                }
                send.yield(.acknowledged)
            } catch {
                send.yield(.failed(error))
            }
        }
    }

    private func read(_ state: inout State) {
        let room = Self.room - state.queue.count
        guard state.reading == nil, room > 0 else { return }
        let position = state.position
        state.reading = Task {
            do {
                let events = try await service.answer(console) { () throws(ClientError) in
                    try await page(room, position)
                }
                send.yield(.events(events))
            } catch {
                if !Task.isCancelled { send.yield(.failed(error)) }
            }
        }
    }

    /// The next events, or none after half a minute.
    private func page(_ limit: Int, _ position: Locked<Int64?>) async throws(ClientError) -> [HookEvent] {
        let path = RequestPath("consumers", options.consumer, "events").query("limit", Int64(limit)).query("wait", 30)
        let after = position.withLock(\.self)
        do throws(ClientError) {
            let response = try await service.waiting(at: path.query("after", after))
            let page = try response.document(EventPage.self)
            guard case .array(let documents)? = response.text.parsed?["events"] else { throw ClientError.unknownForm }
            position.withLock { $0 = page.nextAfter }
            return zip(page.events, documents).map { HookEvent($0, Array($1.written.utf8)) }
        } catch {
            guard error.problem?.type == "/problems/events-pruned" else { throw error }
            let first = error.firstAvailableEvent ?? 1
            console.warn(
                "Events are gone",
                "Events before \(first) are gone, because of their age. \(options.consumer) continues with event \(first)."
            )
            let through: JSON = ["through": .integer(first - 1)]
            _ = try await service.send("POST", RequestPath("consumers", options.consumer, "acknowledge"), through)
            position.withLock { $0 = first - 1 }
            return []
        }
    }

    private struct EventPage: Decodable {
        var events: [EventDocument]
        var nextAfter: Int64
    }

}

extension HookEvent {
    fileprivate init(_ event: EventDocument, _ document: [UInt8]) {
        self.init(
            id: event.id, session: event.session, type: event.type, job: event.job,
            path: event.data.snapshot?.file?.path, location: event.data.snapshot?.file?.location, document: document)
    }
}

extension RemoteService {
    /// Sends a request until the service answers it.
    func answer<Value: Sendable>(
        _ console: Console, _ request: () async throws(ClientError) -> Value
    ) async throws -> Value {
        var backoff = Backoff()
        var isAway = false
        while true {
            do throws(ClientError) {
                let value = try await request()
                if isAway { console.say("fetchd is back.") }
                return value
            } catch {
                let isPassing = [.unavailable, .broken].contains(error.status) || error.problem?.status == 429
                guard isPassing else { throw error }
                if !isAway { console.say("fetchd is not answering at \(address). Waiting for it.") }
                isAway = true
            }
            try await Task.sleep(for: backoff.next())
        }
    }

    /// Sends a GET that the service answers at once, or after half a minute.
    fileprivate func waiting(at path: RequestPath) async throws(ClientError) -> Response {
        try await send(request("GET", path, idle: .seconds(60)))
    }
}

extension ClientError {
    /// The first event that the journal has, if the problem says it.
    fileprivate var firstAvailableEvent: Int64? { JSON(document: document).parsed?["first_available"]?.integerValue }
}
