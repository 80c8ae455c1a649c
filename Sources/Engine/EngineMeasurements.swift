import Downloads
import Metrics

/// The durations and results of what the engine has done, since it was created.
public struct EngineMeasurements: Sendable {
    /// Attempts, from their start to the commit of their end.
    public let attempts = HistogramFamily<AttemptResult>(.downloads)
    /// Failed attempts.
    public let failures = CounterFamily<Failure.Code>()
    /// Syncs of the downloads folder: of one or several parts, with the names of new ones.
    public let syncs = HistogramRecorder(.disk)
}
