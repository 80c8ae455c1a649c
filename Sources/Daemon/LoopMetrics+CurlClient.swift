import API
import CurlClient
import Metrics

/// Converts the report of a client's event loop into the type that the metrics use.
extension LoopMetrics {
    init(_ client: CurlClient) {
        let metrics = client.loopMetrics
        self.init(
            loop: client.name, lag: metrics.lag.seconds,
            turns: Histogram(
                bounds: DurationHistogram.bounds.map(\.seconds), counts: metrics.turns.counts,
                sum: metrics.turns.sum.seconds),
            lookups: (metrics.lookupsRunning, metrics.lookupsQueued))
    }
}

extension Duration {
    fileprivate var seconds: Double { self / .seconds(1) }
}
