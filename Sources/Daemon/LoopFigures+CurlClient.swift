import API
import CurlClient

/// Converts the report of a client's event loop into the type that the metrics use.
extension LoopFigures {
    init(_ client: CurlClient) {
        let report = client.report
        self.init(
            loop: client.name, lag: report.lag.seconds,
            turns: Histogram(
                bounds: DurationHistogram.bounds.map(\.seconds), counts: report.turns.counts,
                sum: report.turns.sum.seconds),
            lookups: (report.lookupsRunning, report.lookupsQueued))
    }
}

extension Duration {
    fileprivate var seconds: Double { self / .seconds(1) }
}
