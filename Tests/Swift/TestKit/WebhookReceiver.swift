import Downloads
import Foundation

/// A webhook consumer: accepts requests, keeps their exact bytes, and answers as configured.
///
///     let receiver = try WebhookReceiver()
///     receiver.answer(503, to: 1...2)
///     let secret = try await fetchd.api.declareWebhook(url: receiver.url)
///     let finish = try await receiver.waitFor("session.finished")
///     #expect(finish.isSigned(with: secret))
public final class WebhookReceiver: Sendable {
    private struct Script: Sendable {
        /// Called with all requests so far, the current one last.
        let isMeant: @Sendable ([ReceivedWebhook]) -> Bool
        let respond: @Sendable (ReceivedWebhook) -> OriginAnswer
    }

    private struct State: Sendable {
        var received: [ReceivedWebhook] = []
        var scripts: [Script] = []
    }

    private let state = Monitor(State())
    private let origin: Origin

    /// - Parameter former: a stopped receiver whose address this one takes over, like a restarted consumer.
    public init(inPlaceOf former: WebhookReceiver? = nil) throws {
        origin = try Origin(port: former?.origin.port)
        let state = state
        origin.serve("/hook", OriginResource { Self.take($0, state) })
    }

    public var url: String { origin.url("/hook") }

    /// Stops listening: connections are refused until another receiver takes its place.
    public func stop() { origin.stop() }

    // MARK: What it got

    /// In the order of arrival.
    public var received: [ReceivedWebhook] { state.current.received }

    /// The number of accepted connections.
    public var connectionCount: Int { origin.connectionCount }

    /// Waits for the given number of requests, of one event type or of any.
    public func waitFor(
        _ type: String? = nil, count: Int, atMost timeout: Duration = .patience
    ) async throws -> [ReceivedWebhook] {
        guard await state.wait(atMost: timeout, until: { $0.received.count { $0.isOf(type) } >= count }) else {
            let seen = received.map { $0.type ?? "?" }
            throw Overdue("Waited in vain for \(count) of \(type ?? "any webhook"); \(seen) came.")
        }
        return received.filter { $0.isOf(type) }
    }

    /// Waits for the first request of a type.
    public func waitFor(_ type: String, atMost timeout: Duration = .patience) async throws -> ReceivedWebhook {
        try await waitFor(type, count: 1, atMost: timeout)[0]
    }

    // MARK: What it says

    /// Answers these requests, counted from 1, in this way; all others are answered 204. The latest call applies.
    ///
    /// - Parameter gate: the response waits for it to open.
    public func answer(
        _ status: Int, headers: [(name: String, value: String)] = [], body: String = "",
        to ordinals: ClosedRange<Int> = 1...Int.max, after gate: Gate? = nil
    ) {
        answer(to: ordinals) { _ in
            var answer = OriginAnswer(status: status, headers: headers, body: Array(body.utf8))
            if let gate { answer.incidents.append((OriginAnswer.beforeHead, .wait(gate))) }
            return answer
        }
    }

    /// Accepts these requests and never answers: the sender waits for its own timeout.
    public func fallSilent(for ordinals: ClosedRange<Int> = 1...Int.max) {
        answer(to: ordinals) { _ in
            var answer = OriginAnswer(status: 204)
            answer.incidents.append((OriginAnswer.beforeHead, .stall))
            return answer
        }
    }

    /// Answers depending on the posted requests.
    public func answer(
        to ordinals: ClosedRange<Int> = 1...Int.max, _ respond: @escaping @Sendable (ReceivedWebhook) -> OriginAnswer
    ) {
        state.withLock { $0.scripts.append(Script(isMeant: { ordinals.contains($0.count) }, respond: respond)) }
    }

    /// Refuses events of a type, the first times or always, and accepts all others.
    public func refuse(_ type: String, times: Int = .max, with status: Int = 503) {
        let refusal = Script { received in
            received.last?.type == type && received.count { $0.type == type } <= times
        } respond: { _ in
            OriginAnswer(status: status)
        }
        state.withLock { $0.scripts.append(refusal) }
    }

    private static func take(_ request: RecordedRequest, _ state: Monitor<State>) -> OriginAnswer {
        let webhook = ReceivedWebhook(request: request, time: Date())
        let script = state.withLock { state in
            state.received.append(webhook)
            return state.scripts.last { $0.isMeant(state.received) }
        }
        let answer = script?.respond(webhook) ?? OriginAnswer(status: 204)
        ExchangeRecord.shared?.add(posted: request, answer)
        return answer
    }
}
