import Downloads
import Metrics

/// The durations of what the store has done, since it was opened.
public struct StoreMeasurements: Sendable {
    /// Group commits that changed data: from the first statement to the end of the sync.
    public let commits = HistogramRecorder(.disk)
    /// Jobs, from their creation to their end.
    public let jobs = HistogramFamily<BatchSignal.Ending>(.downloads)
}
