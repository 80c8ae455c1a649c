import Base
import HTTPTypes

/// The durations and statuses of the requests so far.
///
/// Every request records here, on the thread of its connection: three atomic additions.
struct RequestMeasurements: Sendable {
    /// In the order of `RouteClass`.
    private let durations = RouteClass.allCases.map { _ in HistogramRecorder(.answers) }
    /// In the order of `StatusClass`, for each route.
    private let statuses = RouteClass.allCases.map { _ in StatusClass.allCases.map { _ in Counter() } }

    func note(_ route: RouteClass, _ status: HTTPResponse.Status, _ watch: Stopwatch) {
        durations[route.rawValue].record(watch)
        statuses[route.rawValue][StatusClass(status).rawValue].increment()
    }

    /// From the complete head to the decision on the response; sending takes longer.
    func durations(of route: RouteClass) -> Histogram { durations[route.rawValue].snapshot }

    func count(of route: RouteClass, _ status: StatusClass) -> Int { statuses[route.rawValue][status.rawValue].value }
}

/// A group of routes whose durations the metrics report together.
///
/// The raw value is the position in `allCases`.
enum RouteClass: Int, Sendable, CaseIterable {
    /// New jobs, single and in batches.
    case submit
    /// One job.
    case poll
    /// Lists of jobs.
    case list
    /// Changes of jobs and actions on them.
    case change
    /// Finished files.
    case file
    case sessions, webhooks
    /// Pages of the journal, and the beginnings of streams.
    case events
    /// Requests that have waited for a change, of any route.
    case wait
    /// Tokens, the audit log, settings, signing in.
    case administration
    /// Health, metrics, statistics, the API description.
    case service
    case dashboard
    /// All other routes, and requests that were refused before their route was known.
    case other

    /// The value of the label `route`.
    var name: String { "\(self)" }

    init(_ method: HTTPRequest.Method, _ pattern: [Substring]) {
        guard pattern.first == "v1", pattern.count > 1 else {
            self = Self.withoutVersion[pattern.first ?? ""] ?? .other
            return
        }
        switch pattern[1] {
        case "jobs": self = Self.ofJobs(method, pattern)
        case "sessions": self = pattern.contains("webhooks") ? .webhooks : .sessions
        case "deliveries": self = .webhooks
        case "events": self = .events
        case "stats": self = .service
        case "nodes": self = method == .get ? .service : .administration
        case "tokens", "audit", "service", "sign-in", "tickets": self = .administration
        default: self = .other
        }
    }

    private static let withoutVersion: [Substring: RouteClass] = [
        "": .dashboard, "dashboard": .dashboard, "livez": .service, "readyz": .service, "metrics": .service,
        "openapi.yaml": .service,
    ]

    private static func ofJobs(_ method: HTTPRequest.Method, _ pattern: [Substring]) -> RouteClass {
        if pattern.last == "file" { return .file }
        let isWhole = pattern.count == 2
        if method == .get { return isWhole ? .list : .poll }
        return isWhole || pattern.last == "batch" ? .submit : .change
    }
}

/// The first digit of a status. The raw value is the position in `allCases`.
enum StatusClass: Int, Sendable, CaseIterable {
    case success, redirection, clientError, serverError

    /// The value of the label `code`.
    var name: String { "\(rawValue + 2)xx" }

    init(_ status: HTTPResponse.Status) {
        switch status.code {
        case ..<300: self = .success
        case ..<400: self = .redirection
        case ..<500: self = .clientError
        default: self = .serverError
        }
    }
}
