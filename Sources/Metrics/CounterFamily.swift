/// One counter for each label of a closed set.
public struct CounterFamily<Label: CaseIterable & Hashable & Sendable>: Sendable {
    private let counters: [Label: Counter]

    public init() { counters = Dictionary(uniqueKeysWithValues: Label.allCases.map { ($0, Counter()) }) }

    public subscript(label: Label) -> Counter { counters[label]! }

    /// In the order of the labels.
    public var snapshot: [(label: Label, count: Int)] { Label.allCases.map { ($0, self[$0].value) } }
}
