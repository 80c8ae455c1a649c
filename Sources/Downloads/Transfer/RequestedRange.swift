import HTTPSemantics

/// The bytes that an attempt requests, and the received bytes that the response must match.
public struct RequestedRange: Sendable, Equatable {
    /// The position of the first requested byte.
    public var offset: Int64
    /// The position after the last requested byte; nil requests everything from `offset`.
    public var end: Int64?
    /// The number of received bytes that the request continues. If it is 0, the response need not match any bytes.
    public var bytesHad: Int64
    /// The request asks for the whole file as a range. The response then shows whether the server supports ranges, so
    /// that several connections can share the file.
    public var probesRanges = false
    /// The validators of the received bytes.
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
        bytesHad = offset
        self.validators = validators
        self.size = size
        self.restart = restart
    }

    public static let whole = RequestedRange(offset: 0)

    /// Whether the request has a `Range` header.
    public var isRange: Bool { bytesHad > 0 || probesRanges }
}
