/// A day of the week, in the order of ISO 8601.
public enum Weekday: String, Sendable, CaseIterable {
    case mon, tue, wed, thu, fri, sat, sun

    /// - Parameter day: days since 1970-01-01, a Thursday.
    init(ofDay day: Int) {
        let index = (day % 7 + 7 + 3) % 7
        self = Self.allCases[index]
    }

    /// The position in the week, from 0.
    var index: Int {
        switch self {
        case .mon: 0
        case .tue: 1
        case .wed: 2
        case .thu: 3
        case .fri: 4
        case .sat: 5
        case .sun: 6
        }
    }
}
