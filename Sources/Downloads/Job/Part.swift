import Foundation
import HTTPSemantics

/// The received bytes of a job. A part is an entity of its own, so that it can outlive the attempt and pass to another
/// job.
public struct Part: Sendable, Equatable {
    public var id: PartID
    /// The URL that the bytes came from.
    public var url: String
    public var validators: Validators
    public var label: FileLabel
    /// The number of bytes of the complete representation; nil until a response states it.
    public var size: Int64?
    /// A promise: these bytes are on disk, synced, and belong to these validators.
    public var ranges: ByteRanges
    public var expiry: Expiry

    public init(
        id: PartID, url: String, validators: Validators, label: FileLabel = FileLabel(), size: Int64?,
        ranges: ByteRanges, expiry: Expiry = Expiry()
    ) {
        self.id = id
        self.url = url
        self.validators = validators
        self.label = label
        self.size = size
        self.ranges = ranges
        self.expiry = expiry
    }

    public var bytesDurable: Int64 { ranges.count }

    /// The first request that continues from these bytes: from the first missing byte to the next bytes on disk.
    public var rest: RequestedRange {
        let gap = size.flatMap { ranges.gaps(upTo: $0).first }
        var asked = RequestedRange(offset: gap?.lowerBound ?? ranges.prefix, validators: validators, size: size)
        if let gap, gap.upperBound != size { asked.end = gap.upperBound }
        asked.bytesHad = bytesDurable
        return asked
    }

    /// The missing bytes. If the size is unknown: everything after the received bytes.
    public var missing: [Range<Int64>] { size.map(ranges.gaps(upTo:)) ?? [ranges.end..<Int64.max] }
}

extension Part {
    /// How long a part is kept while no bytes are added to it. The countdown stops while the job is paused.
    public struct Expiry: Sendable, Equatable {
        /// Seconds: the session's `resume_data_ttl_seconds` at the time when the part last received bytes.
        public var lifetime: TimeInterval
        /// nil while an attempt is in progress, because a growing part does not expire.
        public var countdown: Countdown?

        public init(lifetime: TimeInterval = SessionConfiguration.defaultResumeDataTTL, countdown: Countdown? = nil) {
            self.lifetime = lifetime
            self.countdown = countdown
        }

        func after(_ state: JobState, at now: Date) -> Expiry {
            let begun = countdown ?? .running(until: now.addingTimeInterval(lifetime))
            return switch state {
            case .running: Expiry(lifetime: lifetime)
            case .paused: Expiry(lifetime: lifetime, countdown: begun.stopping(at: now))
            case .queued, .waiting, .succeeded, .failed, .cancelled:
                Expiry(lifetime: lifetime, countdown: begun.running(at: now))
            }
        }
    }
}
