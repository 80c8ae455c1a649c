import HTTPTypes
import Metrics

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
