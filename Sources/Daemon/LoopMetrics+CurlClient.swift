import API
import CurlClient

/// What a client reports of its thread, in the words of the metrics.
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
