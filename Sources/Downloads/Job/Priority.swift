public enum Priority: String, Sendable, Codable, CaseIterable {
    case high, normal, low

    public static let lowestRank = Priority.low.rank

    /// Jobs with a smaller rank start first.
    public var rank: Int {
        switch self {
        case .high: 0
        case .normal: 1
        case .low: 2
        }
    }
}
