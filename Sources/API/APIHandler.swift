import Aria2RPC
import Configuration
import Downloads
import Engine
import Foundation
import HTTPServer
import HTTPTypes
import Locks
import Logging
import Metrics
import Storage

/// Handles the requests of the API: checks heads, finds routes, and turns errors into problem documents.
public struct APIHandler: RequestHandler {
    public struct Options: Sendable {
        /// The first administrator's token; nil: only stored tokens exist.
        public var token: String?
        /// Whether requests from this machine need a token also before an administrator has one.
        public var alwaysNeedsToken = false
        /// Names accepted in `Host` besides `localhost` and addresses.
        public var publicHosts: [String] = []
        /// The reverse proxies that say for whom they send a request.
        public var trustedProxies = TrustedProxies()
        /// Web pages of other origins that may use the API from a browser.
        public var allowedOrigins = AllowedOrigins.only([])
        /// Seconds for which a finish may stay unacknowledged before the metrics count its session.
        public var acknowledgementPatience: TimeInterval = 3600
        /// The version that the statistics report.
        public var version = ""
        /// aria2's interface at `/jsonrpc`; nil: it is off.
        public var aria2: Aria2Service?
        /// The files of other nodes; nil: this service has all files.
        public var remoteFiles: RemoteFiles?
        /// Whether jobs may have `rehearse:` URLs.
        public var allowsRehearsals = false
        /// Returns the metrics of the transfer loops; called for each request for metrics.
        public var loops: @Sendable () -> [LoopMetrics] = { [] }
        /// Returns the durations of the posts to webhooks, by their result; called for each request for metrics.
        public var webhookPosts: @Sendable () -> [(result: String, durations: Histogram)] = { [] }
        /// Whether the log has a line for each request.
        public var logsRequests = false

        public init() {}
    }

    private let table: RouteTable
    private let store: Store
    private let feed: Feed
    private let authentication: Authentication
    private let relays: RelaySignature
    /// The number of this node; nil: no other node passes requests on to it.
    private let number: Int64?
    private let rates: RequestRates
    private let visibility: Visibility
    private let availability: Availability
    private let proxies: TrustedProxies
    private let hosts: HostRule
    private let origins: OriginRule
    private let finisher: ResponseFinisher
    /// For answers that grow with the data: each takes several times its size while it is made.
    private let largeAnswers = AsyncGate(width: 4)
    private let log: Logger

    /// Bytes for all answers that are made, or were not read yet. One caller may have half of them.
    private static let memoryOfAnswers = 128 << 20

    public init(
        options: Options, store: Store, engine: Engine, feed: Feed, configuration: ServiceConfiguration,
        readiness: Readiness, log: Logger
    ) {
        let measurements = RequestMeasurements()
        let signIns = SignIns(key: store.key(for: "sign-in"))
        let time = store.time
        let availability = Availability(readiness, store)
        authentication = Authentication(
            token: options.token, tokens: store.tokens, signIns: signIns, time: time,
            alwaysNeedsToken: options.alwaysNeedsToken)
        let answers = AnswerBudget(bytes: Self.memoryOfAnswers, bytesOfHolder: Self.memoryOfAnswers / 2)
        relays = RelaySignature(key: store.key(for: "relay"))
        number = options.remoteFiles?.own
        rates = RequestRates(time: time)
        origins = OriginRule(options.allowedOrigins)
        let aria2 = options.aria2.map { [authentication, rates, origins] service in
            Aria2Routes(
                service: service, store: store, authentication: authentication, rates: rates,
                availability: availability,
                origins: origins, answers: answers)
        }
        table = RouteTable(
            HealthRoutes(store: store, engine: engine, readiness: readiness).routes
                + MetricsRoutes(store: store, engine: engine, feed: feed, requests: measurements, options: options)
                .routes
                + SessionRoutes(store: store, engine: engine, feed: feed).routes
                + WebhookRoutes(store: store, log: log).routes
                + DeliveryRoutes(store: store).routes
                + JobRoutes(
                    store: store, engine: engine, feed: feed, allowsRehearsals: options.allowsRehearsals,
                    answers: answers
                ).routes
                + FileRoutes(
                    store: store, engine: engine, remote: options.remoteFiles, signature: relays
                ).routes
                + StatsRoutes(
                    store: store, engine: engine, feed: feed, version: options.version, time: store.time
                ).routes
                + NodeRoutes(store: store, engine: engine, version: options.version).routes
                + EventRoutes(store: store, feed: feed, log: log, answers: answers).routes
                + TokenRoutes(store: store).routes
                + AuditRoutes(store: store).routes + (aria2?.routes ?? [])
                + ServiceRoutes(store: store, configuration: configuration, log: log).routes
                + SignInRoutes(signIns: signIns, time: store.time).routes + DashboardRoutes().routes)
        (self.feed, self.store) = (feed, store)
        visibility = Visibility(store: store)
        self.availability = availability
        proxies = options.trustedProxies
        hosts = HostRule(publicHosts: options.publicHosts)
        finisher = ResponseFinisher(
            origins: origins, measurements: measurements, answers: answers, logsRequests: options.logsRequests, log: log
        )
        self.log = log
    }

    /// Refuses a request by its head alone if possible, before the body is read.
    public func admit(_ received: RequestHead) -> Admission {
        let watch = Stopwatch()
        let head = withClient(received)
        var (match, caller): (RouteMatch?, Caller?) = (nil, nil)
        func refused(_ response: Response) -> Admission {
            let id = RequestID(sentWith: head) ?? RequestID()
            return .refuse(finisher.finish(response, RequestRecord(head, match, caller, id, watch)))
        }
        do throws(Problem) {
            let isRelayed = try wasPassedOn(head)
            if !isRelayed { try hosts.check(head) }
            if head.target == "*" { return refused(.noContent) }
            if origins.isPreflight(head) { return refused(try preflight(head)) }
            try origins.check(head)
            let found = try table.find(head)
            match = found
            // The tokens in memory can be outdated, too.
            if found.route.needsLease { try availability.checkLease() }
            let admitted = try admittedCaller(head, found.route, isRelayed: isRelayed, &caller)
            return .accept(maxBodyBytes: try found.route.bodyLimit(head)) {
                var request = $0
                request.head.forwardedAddress = head.forwardedAddress
                return respond(to: request, found, admitted, watch)
            }
        } catch {
            audit(error.kind, AuditNote(head, caller, match))
            return refused(error.response)
        }
    }

    /// The head with the address of the client, if a trusted proxy has sent it.
    private func withClient(_ received: RequestHead) -> RequestHead {
        guard proxies.areAny else { return received }
        var head = received
        head.forwardedAddress = proxies.client(
            of: head.remoteAddress, forwarded: head.headers[Self.forwardedFor])
        return head
    }

    private static let forwardedFor = HTTPField.Name("X-Forwarded-For")!

    /// Whether another node has passed the request on to this one.
    ///
    /// - Throws: 421 if it is for a third one. The URL of that node leads here: a node has taken over its address, or it is
    ///   the address of a load balancer.
    private func wasPassedOn(_ head: RequestHead) throws(Problem) -> Bool {
        guard let recipient = relays.recipient(of: head, at: store.time.now) else { return false }
        guard recipient == number else {
            throw Problem(.misdirectedRequest, "The request was passed on to node \(recipient). This is another one.")
        }
        return true
    }

    /// - Parameter known: set as soon as the caller is known.
    private func admittedCaller(
        _ head: RequestHead, _ route: Route, isRelayed: Bool, _ known: inout Caller?
    ) throws(Problem) -> Caller {
        guard case .scope(let scope, let subject) = route.access else { return .unknown }
        if isRelayed, route.isRelayed {
            try availability.checkReadiness()
            return .node
        }
        let caller = try authentication.caller(of: head, takesTicket: route.takesTicket)
        known = caller
        try rates.check(caller)
        try caller.require(scope, of: subject)
        try availability.checkReadiness()
        return caller
    }

    private func audit(_ kind: Problem.Kind, _ note: @autoclosure () -> AuditNote) {
        guard kind.isAudited else { return }
        store.refusals.add(note(), kind.rawValue, at: store.time.now)
    }

    private func respond(
        to request: Request, _ match: RouteMatch, _ caller: Caller, _ watch: Stopwatch
    ) -> Answer {
        let route = match.route
        let context = RequestContext(request: request, match: match, caller: caller)
        let sent = RequestID(sentWith: request.head)
        // A kept response is the same for all clients, so it has no new identifier.
        let kept = RequestRecord(request.head, match, caller, sent ?? finisher.idOfKeptResponse, watch)
        if let immediate = route.immediate, let answer = immediate(context) { return finisher.finish(answer, kept) }
        let mayWait = route.mayWait && context.asksToWait
        // Only a request that waits for a change ends early when its client disconnects.
        if mayWait, let wait = route.park?(context) {
            let waiting = kept.waiting
            return .parked { [finisher, availability] pending in
                let request = ParkedRequest(wait) { reply in
                    pending.settle(with: finisher.finish(availability.current(reply), waiting))
                }
                feed.park(request, until: .now + wait.duration, pending)
            }
        }
        let known = RequestRecord(request.head, match, caller, kept.id ?? RequestID(), watch)
        let record = mayWait ? known.waiting : known
        var identified = context
        identified.id = record.id
        let work = { @Sendable [identified] in
            finisher.finish(await response(to: identified, of: route, record), record)
        }
        return mayWait ? .whileConnected(work) : .eventually(work)
    }

    public func malformed(_ fault: RequestFault, _ head: RequestHead?) -> Response {
        guard let head else { return Problem(fault).response }
        let id = RequestID(sentWith: head) ?? RequestID()
        return finisher.finish(Problem(fault).response, RequestRecord(withClient(head), nil, nil, id, Stopwatch()))
    }

    /// Answers a CORS preflight request. Browsers send these requests without a token, so no token is needed.
    private func preflight(_ head: RequestHead) throws(Problem) -> Response {
        let methods = try table.methods(at: head)
        return Response(status: .noContent, headers: [.accessControlAllowMethods: methods.joined(separator: ", ")])
    }

    private func response(to context: RequestContext, of route: Route, _ record: RequestRecord) async -> Response {
        let response = await answer(to: context, of: route, record)
        return context.caller === Caller.node ? relays.proven(response, to: context.head) : response
    }

    private func answer(to context: RequestContext, of route: Route, _ record: RequestRecord) async -> Response {
        if let refusal = refusalAfterBody(of: context) { return refusal }
        do {
            if case .scope(_, let subject) = route.access { try await visibility.check(subject, context) }
            if case .required = route.body, !context.hasBody {
                throw Problem(.malformedJSON, "The request needs a JSON body.")
            }
            if !route.readsQuery { try context.query { _ throws(Problem) in } }
            // A request that waits for a change must not keep others from their answers.
            guard route.isLarge, !(route.mayWait && context.asksToWait) else { return try await route.handle(context) }
            return try await largeAnswers.pass(for: record.holder) { try await route.handle(context) }
        } catch {
            let problem = Problem(error)
            audit(problem.kind, context.auditNote)
            if problem.kind == .internalError {
                log.error(
                    "\(context.head.method) \(context.head.path): \(problem.detail)", metadata: record.logFields)
            }
            return problem.response
        }
    }

    /// Refuses a request whose token was revoked while its body was received, which can take minutes.
    ///
    /// - Returns: nil if the request is still admitted.
    private func refusalAfterBody(of context: RequestContext) -> Response? {
        guard case .scope = context.match.route.access, context.head.announcesBody else { return nil }
        do throws(Problem) {
            // No request with a body has a ticket, or comes from another node.
            _ = try authentication.caller(of: context.head)
            return nil
        } catch {
            // The caller is not known any more.
            audit(error.kind, AuditNote(context.head, nil, context.match))
            return error.response
        }
    }
}
