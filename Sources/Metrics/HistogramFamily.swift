/// One histogram for each label of a closed set.
public struct HistogramFamily<Label: CaseIterable & Hashable & Sendable>: Sendable {
    private let recorders: [Label: HistogramRecorder]

    public init(_ scale: DurationScale) {
        recorders = Dictionary(uniqueKeysWithValues: Label.allCases.map { ($0, HistogramRecorder(scale)) })
    }

    public subscript(label: Label) -> HistogramRecorder { recorders[label]! }

    /// In the order of the labels.
    public var snapshot: [(label: Label, histogram: Histogram)] { Label.allCases.map { ($0, self[$0].snapshot) } }
}
