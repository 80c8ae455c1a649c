import HTTPSemantics

/// What an attempt asked for.
public struct RequestedRange: Sendable, Equatable {
    /// The first byte.
    public var offset: Int64
    /// Behind the last byte; nil asks for everything from `offset` on.
    public var end: Int64?
    /// Bytes had so far, which are gone on from; 0: there is nothing that an answer must agree with.
    public var bytesHad: Int64
    /// Everything is asked for, but as a range: a server that has ranges shows it, and several connections can share.
    public var probesRanges = false
    /// What the part's bytes came with.
    public var validators: Validators
    public var size: Int64?
    /// Another address is asked than the one that the bytes came from: what does not repeat their validator may be of
    /// another file, whatever its size.
    public var isElsewhere = false
    /// The whole will be compared with the job's checksum: more bytes may be taken that no validator vouches for, though
    /// none that are known to be of another version.
    public var restsOnChecksum = false
    /// Why an attempt that had bytes begins at 0, or with fewer of them.
    public var restart: ResumeOutcome.RestartReason?

    public init(
        offset: Int64, validators: Validators = Validators(), size: Int64? = nil,
        restart: ResumeOutcome.RestartReason? = nil
    ) {
        self.offset = offset
        bytesHad = offset
        self.validators = validators
        self.size = size
        self.restart = restart
    }

    public static let whole = RequestedRange(offset: 0)

    /// Whether the request says `Range`.
    public var isRange: Bool { bytesHad > 0 || probesRanges }
}
