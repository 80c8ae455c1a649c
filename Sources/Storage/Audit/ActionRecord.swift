import Downloads

/// What an action on many jobs has done so far, and its entry in the audit log.
public struct ActionRecord: Sendable {
    public struct Counts: Sendable, Equatable {
        /// Jobs that the request has selected.
        public var matched = 0
        public var changed = 0
        /// Jobs that could not be changed, and identifiers without a job.
        public var refused = 0

        public init() {}
    }

    public var counts = Counts()
    /// Some of the refusals: an answer with all of them has no bound.
    public private(set) var refusals: [(job: JobID, error: any Error)] = []
    let note: AuditNote?
    private let request: String
    /// The number of the entry; nil before the first step.
    var entry: Int64?

    /// - Parameters:
    ///   - note: nil: the action is not the request of a client.
    ///   - request: what the action does to which jobs, for the audit log.
    public init(_ note: AuditNote?, of request: String) {
        (self.note, self.request) = (note, request)
    }

    public mutating func refuse(_ job: JobID, _ error: any Error) {
        counts.refused += 1
        if refusals.count < Self.mostRefusals { refusals.append((job, error)) }
    }

    private static let mostRefusals = 100

    /// For the audit log.
    var change: String {
        "\(request): \(counts.matched) matched, \(counts.changed) changed, \(counts.refused) refused"
    }
}

extension Store {
    /// Stores the end of an action in steps.
    ///
    /// - Parameters:
    ///   - claim: of the request; nil: it has none.
    ///   - answer: is stored for repetitions of the request.
    /// - Returns: the answer to give. It is that of a repetition, if another node has carried out one that has ended earlier.
    public func conclude(
        _ record: ActionRecord, once claim: IdempotencyClaim?, answer: RememberedAnswer
    ) async throws -> RememberedAnswer {
        try await writer.write { transaction in
            var record = record
            try transaction.store(&record)
            guard let claim else { return answer }
            if let first = try transaction.rememberedAnswer(to: claim) { return first }
            try transaction.remember(answer, to: claim, holdsSecrets: false)
            return answer
        }
    }
}
