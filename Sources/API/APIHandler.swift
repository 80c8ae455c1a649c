import Configuration
import Downloads
import Engine
import Foundation
import HTTPServer
import HTTPTypes
import Logging
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
        /// Web pages of other origins that may use the API from a browser.
        public var allowedOrigins = AllowedOrigins.only([])
        /// Seconds for which a finish may stay unacknowledged before the metrics name its session.
        public var acknowledgementPatience: TimeInterval = 3600
        /// The version that the statistics report.
        public var version = ""
        /// Whether jobs may have `rehearse:` URLs.
        public var allowsRehearsals = false
        /// Returns the metrics of the transfer loops; called for each request for metrics.
        public var loops: @Sendable () -> [LoopMetrics] = { [] }

        public init() {}
    }

    private let table: RouteTable
    private let store: Store
    private let feed: Feed
    private let authentication: Authentication
    private let rates: RequestRates
    private let visibility: Visibility
    private let readiness: Readiness
    private let hosts: HostRule
    private let origins: OriginRule
    private let log: Logger

    public init(
        options: Options, store: Store, engine: Engine, feed: Feed, configuration: ServiceConfiguration,
        readiness: Readiness, log: Logger
    ) {
        let signIns = SignIns(key: store.key(for: "sign-in"), time: store.time)
        table = RouteTable(
            HealthRoutes(store: store, engine: engine, readiness: readiness).routes
                + MetricsRoutes(
                    store: store, acknowledgementPatience: options.acknowledgementPatience, loops: options.loops,
                    time: store.time
                ).routes
                + SessionRoutes(store: store, engine: engine).routes + WebhookRoutes(store: store, log: log).routes
                + DeliveryRoutes(store: store).routes
                + JobRoutes(
                    store: store, engine: engine, feed: feed, allowsRehearsals: options.allowsRehearsals
                ).routes
                + FileRoutes(store: store, engine: engine).routes
                + StatsRoutes(
                    store: store, engine: engine, feed: feed, version: options.version, time: store.time
                ).routes
                + EventRoutes(store: store, feed: feed, log: log).routes + TokenRoutes(store: store).routes
                + AuditRoutes(store: store).routes
                + ServiceRoutes(store: store, configuration: configuration, log: log).routes
                + SignInRoutes(signIns: signIns, time: store.time).routes + DashboardRoutes().routes)
        (self.feed, self.store) = (feed, store)
        authentication = Authentication(
            token: options.token, tokens: store.tokens, signIns: signIns, time: store.time,
            alwaysNeedsToken: options.alwaysNeedsToken)
        rates = RequestRates(time: store.time)
        visibility = Visibility(store: store)
        self.readiness = readiness
        hosts = HostRule(publicHosts: options.publicHosts)
        origins = OriginRule(options.allowedOrigins)
        self.log = log
    }

    /// Refuses a request by its head alone if possible, before the body is read.
    public func admit(_ head: RequestHead) -> Admission {
        var (match, caller): (RouteMatch?, Caller?) = (nil, nil)
        do throws(Problem) {
            try hosts.check(head)
            if head.target == "*" { return .refuse(answered(head, .noContent)) }
            if origins.isPreflight(head) { return .refuse(answered(head, try preflight(head))) }
            try origins.check(head)
            let found = try table.find(head)
            match = found
            let admitted = try admittedCaller(head, found.route, &caller)
            return .accept(maxBodyBytes: try found.route.bodyLimit(head)) { respond(to: $0, found, admitted) }
        } catch {
            audit(error.kind, AuditNote(head, caller, match))
            return .refuse(answered(head, error.response))
        }
    }

    /// - Parameter known: set as soon as the caller is known.
    private func admittedCaller(
        _ head: RequestHead, _ route: Route, _ known: inout Caller?
    ) throws(Problem) -> Caller {
        guard case .scope(let scope, let subject) = route.access else { return .unknown }
        let caller = try authentication.caller(of: head, takesTicket: route.takesTicket)
        known = caller
        try rates.check(caller)
        try caller.require(scope, of: subject)
        try readiness.check()
        return caller
    }

    private func audit(_ kind: Problem.Kind, _ note: @autoclosure () -> AuditNote) {
        guard kind.isAudited else { return }
        store.refusals.add(note(), kind.rawValue, at: store.time.now)
    }

    private func respond(to request: Request, _ match: RouteMatch, _ caller: Caller) -> Answer {
        let (head, route) = (request.head, match.route)
        let context = RequestContext(request: request, match: match, caller: caller)
        if let immediate = route.immediate, let answer = immediate(context) { return answered(head, answer) }
        let work = { @Sendable in answered(head, await response(to: context, of: route)) }
        guard route.mayWait, context.asksToWait else { return .eventually(work) }
        // Only a request that waits for a change ends early when its client disconnects.
        guard let wait = route.park?(context) else { return .whileConnected(work) }
        return .parked { pending in
            let request = ParkedRequest(wait) { pending.settle(with: answered(head, $0)) }
            feed.park(request, until: .now + wait.duration, pending)
        }
    }

    public func malformed(_ fault: RequestFault, _ head: RequestHead?) -> Response {
        let response = Problem(fault).response
        return head.map { response.with(origins.fields(for: $0)) } ?? response
    }

    /// Answers a CORS preflight request. Browsers send these requests without a token, so no token is needed.
    private func preflight(_ head: RequestHead) throws(Problem) -> Response {
        let methods = try table.methods(at: head)
        return Response(status: .noContent, headers: [.accessControlAllowMethods: methods.joined(separator: ", ")])
    }

    private func response(to context: RequestContext, of route: Route) async -> Response {
        do {
            if case .scope(_, let subject) = route.access { try await visibility.check(subject, context) }
            if case .required = route.body, !context.hasBody {
                throw Problem(.malformedJSON, "The request needs a JSON body.")
            }
            if !route.readsQuery { try context.query { _ throws(Problem) in } }
            return try await route.handle(context)
        } catch {
            let problem = Problem(error)
            audit(problem.kind, context.auditNote)
            if problem.kind == .internalError {
                log.error("\(context.head.method) \(context.head.path): \(problem.detail)")
            }
            return problem.response
        }
    }

    private func answered(_ head: RequestHead, _ answer: Answer) -> Answer {
        switch answer {
        case .now(let response): return .now(answered(head, response))
        case .prepared(let prepared):
            guard !origins.addsFields else { return .now(answered(head, prepared.response)) }
            note(head, prepared.response.status)
            return answer
        case .eventually, .whileConnected, .parked: return answer
        }
    }

    private func answered(_ head: RequestHead, _ reply: Reply) -> Reply {
        switch reply {
        case .response(let response): return .response(answered(head, response))
        case .prepared(let prepared):
            guard !origins.addsFields else { return .response(answered(head, prepared.response)) }
            note(head, prepared.response.status)
            return reply
        }
    }

    private func answered(_ head: RequestHead, _ response: Response) -> Response {
        note(head, response.status)
        return origins.addsFields ? response.with(origins.fields(for: head)) : response
    }

    private func note(_ head: RequestHead, _ status: HTTPResponse.Status) {
        log.debug("\(head.method) \(head.path) -> \(status.code)")
    }
}

extension Response {
    fileprivate func with(_ fields: HTTPFields) -> Response {
        var response = self
        response.headers.append(contentsOf: fields)
        return response
    }
}
