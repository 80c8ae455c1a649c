import API
import CurlClient

/// What a client reports of its thread, in the words of the metrics.
extension TransferLoopMetrics {
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
