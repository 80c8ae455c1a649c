import Downloads

/// The kept counts of the whole service: the row of `service_counts`.
struct ServiceCounts: Sendable, Equatable {
    var parts = 0
    /// The durable bytes of all parts.
    var partBytes: Int64 = 0
    var pendingDeliveries = 0
    var acknowledgedDeliveries = 0
    var exhaustedDeliveries = 0
    var cancelledDeliveries = 0
    var unacknowledgedFinishes = 0

    init() {}

    init(_ row: SQLRow) {
        (parts, partBytes) = (row[0], row[1])
        (pendingDeliveries, acknowledgedDeliveries) = (row[2], row[3])
        (exhaustedDeliveries, cancelledDeliveries) = (row[4], row[5])
        unacknowledgedFinishes = row[6]
    }

    subscript(deliveries state: Delivery.State.Name) -> Int {
        get {
            switch state {
            case .pending: pendingDeliveries
            case .acknowledged: acknowledgedDeliveries
            case .exhausted: exhaustedDeliveries
            case .cancelled: cancelledDeliveries
            }
        }
        set {
            switch state {
            case .pending: pendingDeliveries = newValue
            case .acknowledged: acknowledgedDeliveries = newValue
            case .exhausted: exhaustedDeliveries = newValue
            case .cancelled: cancelledDeliveries = newValue
            }
        }
    }

    /// The other states with at least one delivery.
    var settledDeliveries: [Delivery.State.Name: Int] {
        Delivery.State.Name.allCases.reduce(into: [:]) { counts, state in
            if state != .pending, self[deliveries: state] > 0 { counts[state] = self[deliveries: state] }
        }
    }

    static func += (sum: inout ServiceCounts, other: ServiceCounts) {
        sum.parts += other.parts
        sum.partBytes += other.partBytes
        for state in Delivery.State.Name.allCases { sum[deliveries: state] += other[deliveries: state] }
        sum.unacknowledgedFinishes += other.unacknowledgedFinishes
    }

    static func - (left: ServiceCounts, right: ServiceCounts) -> ServiceCounts {
        var difference = left
        difference.parts -= right.parts
        difference.partBytes -= right.partBytes
        for state in Delivery.State.Name.allCases { difference[deliveries: state] -= right[deliveries: state] }
        difference.unacknowledgedFinishes -= right.unacknowledgedFinishes
        return difference
    }

    /// The columns in the order in which `init(_:)` reads them.
    static let columns = """
        parts, part_bytes, deliveries_pending, deliveries_acknowledged, deliveries_exhausted, deliveries_cancelled,
            finishes_unacknowledged
        """

    static func read(in db: SQLConnection) throws -> ServiceCounts {
        try db.row("SELECT \(columns) FROM service_counts").map(ServiceCounts.init)
            ?? ServiceCounts()
    }

    /// Counts parts, deliveries and finishes one by one.
    static func recount(in db: SQLConnection) throws -> ServiceCounts {
        try db.row("SELECT \(columns) FROM (\(Schema.countedService)) AS counted")
            .map(ServiceCounts.init) ?? ServiceCounts()
    }
}
