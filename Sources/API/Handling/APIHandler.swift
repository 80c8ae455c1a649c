import Aria2RPC
import Base
import Configuration
import Downloads
import Engine
import Foundation
import HTTPServer
import HTTPTypes
import Logging
import Operations
import Storage

/// Handles the requests of the API: each passes the steps before its body is read, then its route, and the finisher.
public struct APIHandler: RequestHandler {
    public struct Options: Sendable {
        /// The settings of the start. What can change while the service runs, `ServiceConfiguration` has.
        public var settings = Settings()
        public var version = ""
        /// nil: the interface at `/jsonrpc` is off.
        public var aria2: Aria2Service?
        /// The files of the other services of the database; nil: this service has all files.
        public var remoteFiles: RemoteFiles?
        /// Requests objects from buckets; nil: no location is a bucket.
        public var objectRelay: FileRelay?
        /// Returns the metrics of the transfer loops; called for each request for metrics.
        public var loops: @Sendable () -> [LoopMetrics] = { [] }
        /// Returns the durations of the posts to webhooks, by their result; called for each request for metrics.
        public var webhookPosts: @Sendable () -> [(result: String, durations: Histogram)] = { [] }

        public init() {}
    }

    /// In the order in which a request passes them.
    private let steps: [any RequestStep]
    private let store: Store
    private let feed: Feed
    private let authentication: Authentication
    private let relays: RelaySignature
    private let filter: SessionFilter
    private let availability: Availability
    private let client: ClientAddressStep
    private let finisher: ResponseFinisher
    private let importer: Importer
    /// For responses that grow with the data: each takes several times its size while it is made.
    private let largeResponses = AsyncGate(width: 4)
    private let log: Logger

    /// Bytes for all responses that are made, or were not read yet. One caller may have half of them.
    private static let memoryOfResponses = 128 << 20

    public init(
        options: Options, store: Store, engine: Engine, feed: Feed, configuration: ServiceConfiguration,
        readiness: Readiness, log: Logger
    ) {
        self.store = store
        self.feed = feed
        self.log = log
        let cookies = SessionCookies(key: store.key(for: "sign-in"))
        let rates = RequestRates(time: store.time)
        let settings = options.settings
        let origins = OriginRule(settings.allowedOrigins)
        availability = Availability(readiness, store)
        authentication = Authentication(
            token: settings.token, tokens: store.tokens, cookies: cookies, time: store.time,
            alwaysNeedsToken: settings.tokenDemand != nil)
        relays = RelaySignature(key: store.key(for: "relay"))
        filter = SessionFilter(store: store)
        client = ClientAddressStep(proxies: settings.trustedProxies)
        let answers = ResponseBudget(bytes: Self.memoryOfResponses, bytesOfHolder: Self.memoryOfResponses / 2)
        let measurements = RequestMeasurements()
        finisher = ResponseFinisher(
            origins: origins, measurements: measurements, answers: answers, logsRequests: settings.requestLog, log: log
        )
        let aria2 = options.aria2.map { [authentication, availability] service in
            Aria2Routes(
                service: service, store: store, authentication: authentication, rates: rates,
                availability: availability, origins: origins, answers: answers)
        }
        let jobs = Jobs(store: store, engine: engine)
        let locations = LocationNames(declared: engine.locationNames)
        let rules = NewJobRules(store: store, allowsRehearsals: settings.enableRehearsals, locations: locations)
        importer = Importer(store: store, jobs: jobs, rules: rules, log: log)
        let sessions = Sessions(store: store, engine: engine)
        let routes: [[Route]] = [
            HealthRoutes(store: store, engine: engine, availability: availability).routes,
            MetricsRoutes(
                store: store, engine: engine, feed: feed, requests: measurements, importer: importer, options: options
            ).routes,
            SessionRoutes(sessions: sessions, feed: feed, locations: locations).routes,
            ManifestRoutes(jobs: jobs, sessions: sessions, remote: options.remoteFiles).routes,
            WebhookRoutes(store: store, log: log).routes, DeliveryRoutes(store: store).routes,
            WebhookKeyRoutes(store: store).routes,
            JobRoutes(jobs: jobs, rules: rules, responses: JobResponseCache(answers), answers: answers).routes,
            ImportRoutes(importer: importer).routes,
            FileRoutes(
                jobs: jobs, time: store.time, remote: options.remoteFiles, signature: relays,
                objects: ObjectFiles(engine: engine, relay: options.objectRelay)
            ).routes,
            StatsRoutes(
                store: store, engine: engine, feed: feed, version: options.version, start: store.time.uptime
            ).routes,
            HostRoutes(engine: engine).routes, LocationRoutes(engine: engine).routes,
            NodeRoutes(store: store, engine: engine, version: options.version).routes,
            EventRoutes(
                store: store, feed: feed, log: log, authentication: authentication, pages: EventPages(answers)
            ).routes,
            ConsumerRoutes(store: store, feed: feed).routes, TokenRoutes(store: store).routes,
            AuditRoutes(store: store).routes, aria2?.routes ?? [],
            ServiceRoutes(store: store, configuration: configuration, log: log).routes,
            SignInRoutes(cookies: cookies, time: store.time).routes, DashboardRoutes().routes,
        ]
        let table = RouteTable(routes.flatMap(\.self))
        steps = [
            client, RelayStep(signature: relays, number: options.remoteFiles?.own, time: store.time),
            // Clients and load balancers may use the name in `nodeURL`, too.
            HostFieldStep(publicHosts: settings.publicHosts + [settings.nodeURL?.host].compactMap(\.self)), origins,
            RouteStep(table: table, origins: origins),
            availability, authentication, rates, PermissionStep(), BodyStep(), UploadStep(),
        ]
    }

    /// Continues the imports of the last run. Call it before requests are accepted.
    public func continueImports() async throws { try await importer.begin() }

    /// Interrupts the imports. The next start continues them.
    public func stopImports() async { await importer.stop() }

    public func admit(_ received: RequestHead) -> RouteDecision {
        var request = IncomingRequest(received)
        do throws(Problem) {
            for step in steps {
                if let response = try step.apply(to: &request) { return refuse(request, response) }
            }
        } catch {
            store.audit(error, AuditNote(request.head, request.caller, request.match))
            return refuse(request, error.response)
        }
        guard let match = request.match else { return refuse(request, .noContent) }
        let (caller, watch) = (request.caller ?? .anonymous, request.watch)
        let (forwardedAddress, upload) = (request.head.forwardedAddress, request.upload)
        return .accept(maxBodyBytes: request.bodyLimit, sink: upload) {
            var complete = $0
            complete.head.forwardedAddress = forwardedAddress
            var context = RequestContext(request: complete, match: match, caller: caller)
            context.upload = upload
            return respond(to: context, watch)
        }
    }

    private func refuse(_ request: IncomingRequest, _ response: Response) -> RouteDecision {
        let id = RequestID(sentWith: request.head) ?? RequestID()
        return .refuse(
            finisher.finish(
                response, RequestRecord(request.head, request.match, request.caller, id, request.watch)))
    }

    public func malformed(_ fault: RequestFault, _ head: RequestHead?) -> Response {
        guard let head else { return Problem(fault).response }
        let id = RequestID(sentWith: head) ?? RequestID()
        return finisher.finish(Problem(fault).response, RequestRecord(client.head(of: head), nil, nil, id, Stopwatch()))
    }

    private func respond(to context: RequestContext, _ watch: Stopwatch) -> Answer {
        let (head, route) = (context.head, context.match.route)
        let sent = RequestID(sentWith: head)
        // A kept response is the same for all clients, so it has no new identifier.
        let kept = RequestRecord(head, context.match, context.caller, sent ?? finisher.idOfKeptResponse, watch)
        if let immediate = route.immediate, let answer = immediate(context) { return finisher.finish(answer, kept) }
        let mayWait = route.mayWait && context.asksToWait
        // Only a request that waits for a change ends early when its client disconnects.
        if mayWait, let wait = route.longPoll?(context) { return poll(wait, kept.waiting) }
        let known = RequestRecord(head, context.match, context.caller, kept.id ?? RequestID(), watch)
        let record = mayWait ? known.waiting : known
        var identified = context
        identified.id = record.id
        let work = { @Sendable [identified] in
            let response = await response(to: identified, record)
            return finisher.finish(mayWait ? availability.current(response) : response, record)
        }
        return mayWait ? .whileConnected(work) : .eventually(limit: route.answerLimit, work)
    }

    private func poll(_ wait: LongPoll.Wait, _ record: RequestRecord) -> Answer {
        .parked { [finisher, availability, feed] pending in
            let request = LongPoll(wait) { response in
                pending.settle(with: finisher.finish(availability.current(response), record))
            }
            feed.add(request, until: .now + wait.duration, pending)
        }
    }

    private func response(to context: RequestContext, _ record: RequestRecord) async -> Response {
        let response: Response
        do { response = try await admitted(context, record) } catch {
            response = refusal(Problem(error), context, record)
        }
        return context.caller === Caller.peer ? relays.proven(response, to: context.head) : response
    }

    private func refusal(_ problem: Problem, _ context: RequestContext, _ record: RequestRecord) -> Response {
        context.upload?.abandon()
        // The caller of an unauthorized request is not known any more.
        let caller = problem.kind == .unauthorized ? nil : context.caller
        store.audit(problem, AuditNote(context.head, caller, context.match))
        if problem.kind == .internalError {
            log.error(
                "\(context.head.method) \(context.head.path): \(problem.detail)", metadata: record.logFields)
        }
        return problem.response
    }

    private func admitted(_ context: RequestContext, _ record: RequestRecord) async throws -> Response {
        let route = context.match.route
        if case .scope(_, let subject) = route.access {
            // A token can be revoked while a body is received, which can take minutes.
            if context.head.announcesBody { try authentication.confirm(context.caller) }
            try await filter.check(subject, context)
        }
        if case .required = route.body, !context.hasBody {
            throw Problem(.malformedJSON, "The request needs a JSON body.")
        }
        if !route.readsQuery { try context.query { _ throws(Problem) in } }
        // A request that waits for a change must not keep others from their responses.
        guard route.isLarge, !(route.mayWait && context.asksToWait) else { return try await route.handle(context) }
        return try await largeResponses.pass(for: record.holder) {
            let response = try await route.handle(context)
            return route.isCoded ? response.coded(for: context.head) : response
        }
    }
}
