import HTTPSemantics

/// The bytes that an attempt requests, and the received bytes that the response must match.
public struct RequestedRange: Sendable, Equatable {
    public var offset: Int64
    /// The number of bytes before `offset` that are requested again, to compare them with the received ones.
    public internal(set) var overlap: Int64 = 0
    /// Samples of the received bytes were equal to those of the server, so no validator has to show that they belong together.
    public internal(set) var isWeighed = false
    public var policy = ResumePolicy.strict
    /// The position after the last requested byte; nil requests everything from `offset`.
    public var end: Int64?
    /// The number of received bytes that the request continues. If it is 0, the response need not match any bytes.
    public var presentBytes: Int64
    /// The request asks for the whole file as a range. The response then shows whether the server supports ranges, so
    /// that several connections can share the file.
    public var probesRanges = false
    public var validators: Validators
    public var size: Int64?
    /// The request goes to another URL than the one that the bytes came from. A response without the validator of these
    /// bytes may belong to another file, even if the size is the same.
    public var isElsewhere = false
    /// The job's checksum verifies the whole file at the end. So bytes without a matching validator may be added, but
    /// no bytes that are known to belong to another version.
    public var restsOnChecksum = false
    /// Why an attempt that had bytes begins at 0, or with fewer of them.
    public var restart: ResumeOutcome.RestartReason?

    public init(
        offset: Int64, validators: Validators = Validators(), size: Int64? = nil,
        restart: ResumeOutcome.RestartReason? = nil
    ) {
        self.offset = offset
        presentBytes = offset
        self.validators = validators
        self.size = size
        self.restart = restart
    }

    public static let whole = RequestedRange(offset: 0)

    /// Whether the request has a `Range` header.
    public var isRange: Bool { presentBytes > 0 || probesRanges }

    /// The first byte that is requested.
    public var start: Int64 { offset - overlap }
}

/// Evidence that the bytes of two responses belong to the same file.
extension RequestedRange {
    /// The value of `If-Range`; nil to send none. A different URL may serve the same file without a validator, and would then
    /// answer the condition with the whole file. So it receives no condition if the checksum verifies the whole file.
    public var condition: String? { isWeighed || isElsewhere && restsOnChecksum ? nil : validators.strong }

    /// Whether the response belongs to the same file as the received bytes. fetchd combines the bytes of two responses
    /// only if both have the same strong validator (RFC 9110, section 15.3.7.3). An `If-Range` in the request proves
    /// nothing, because some servers ignore it.
    ///
    /// A 416 adds no bytes, and most servers send no validator with it. It proves that the condition was met, because
    /// otherwise the server would have sent the whole file (RFC 9110, section 13.1.5). This does not hold for another
    /// URL, which may treat the condition differently.
    ///
    /// A tag under which the date has changed proves nothing: some servers keep the tag of a file that was replaced.
    func isProven(by response: ResponseFacts) -> Bool {
        guard let strong = validators.strong else { return false }
        if let old = validators.lastModified, let new = response.validators.lastModified, old != new { return false }
        return response.validators.strong == strong || response.status == 416 && !isElsewhere
    }

    /// The validators that hold for both the received bytes and those of the response. Without proof, a strong
    /// validator of one response must not vouch for the bytes of the other, because nothing has compared them.
    public func validators(continuedBy response: ResponseFacts) -> Validators {
        if isWeighed || isProven(by: response) || validators.strong == nil && !isElsewhere { return validators }
        return response.validators.withoutStrength
    }

    /// The label of the received bytes, as far as it holds for the whole file. Without proof, its digests are dropped,
    /// because a digest belongs to one version of the file.
    public func label(_ earlier: FileLabel, continuedBy response: ResponseFacts) -> FileLabel {
        var label = earlier
        if !isWeighed, !isProven(by: response) { label.digests = [] }
        return label
    }
}

/// How a transfer began: without earlier bytes (fresh), from earlier bytes (resumed), or at 0 although earlier bytes
/// existed (restarted).
public enum ResumeOutcome: Sendable, Equatable {
    case fresh
    /// `why`: the reason why fewer bytes than were received are used; nil: all are used.
    case resumed(offset: Int64, why: RestartReason? = nil)
    case restarted(RestartReason)

    public enum RestartReason: String, Sendable, CaseIterable {
        case etagChanged = "etag_changed"
        case lastModifiedChanged = "last_modified_changed"
        case sizeChanged = "size_changed"
        case rangeIgnored = "range_ignored"
        case badRange = "bad_range"
        case noValidator = "no_validator"
        case partMissing = "part_missing"
        case partShorterThanRecorded = "part_shorter_than_recorded"
        /// Written bytes could not be synced. Only the bytes of the last checkpoint are used.
        case syncFailed = "sync_failed"
        /// The bytes that were fetched again differ from the stored ones.
        case overlapMismatch = "overlap_mismatch"
        /// The list of digests has another digest for the file than when the bytes were received.
        case checksumChanged = "checksum_changed"
    }
}
