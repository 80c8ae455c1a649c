/// The resources of an origin and its request log: everything but the sockets.
final class OriginSite: Sendable {
    private struct Entry: Sendable {
        let resource: OriginResource
        let behaviours: [OriginBehaviour]
        var count = 0
    }

    private struct State: Sendable {
        var entries: [String: Entry] = [:]
        var requests: [RecordedRequest] = []
        var underWay = 0
        var mostUnderWay = 0
    }

    private let state = Monitor(State())

    var requests: [RecordedRequest] { state.current.requests }
    var mostUnderWay: Int { state.current.mostUnderWay }

    func serve(_ path: String, _ resource: OriginResource, _ behaviours: [OriginBehaviour]) {
        state.withLock { $0.entries[path] = Entry(resource: resource, behaviours: behaviours) }
    }

    /// Records a request and returns the response. `OriginExchange` calls it, and `endExchange` afterwards.
    func beginExchange(_ request: RecordedRequest) -> OriginAnswer {
        let entry = state.withLock { state in
            state.requests.append(request)
            state.underWay += 1
            state.mostUnderWay = max(state.mostUnderWay, state.underWay)
            state.entries[request.path]?.count += 1
            return state.entries[request.path]
        }
        guard let entry else { return OriginAnswer(status: 404, body: Array("Nothing here.\n".utf8)) }
        let exchange = OriginBehaviour.Exchange(ordinal: entry.count, request: request, resource: entry.resource)
        return OriginBehaviour.answer(to: exchange, entry.behaviours)
    }

    func endExchange() {
        state.withLock { $0.underWay -= 1 }
    }

    func waitForRequests(_ path: String, count: Int, atMost timeout: Duration) async -> Bool {
        await state.wait(atMost: timeout) { state in
            state.requests.count { $0.path == path } >= count
        }
    }

    func waitForSilence(atMost timeout: Duration) async -> Bool {
        await state.wait(atMost: timeout) { $0.underWay == 0 }
    }
}

/// A request and its answer. The exchange counts as running until `end` is called.
///
/// It is a class, as `end` counts once, wherever it is called first. One thread uses it.
final class OriginExchange {
    let answer: OriginAnswer
    private let site: OriginSite
    private var hasEnded = false

    init(_ request: RecordedRequest, at site: OriginSite) {
        self.site = site
        answer = site.beginExchange(request)
    }

    func end() {
        guard !hasEnded else { return }
        hasEnded = true
        site.endExchange()
    }
}
