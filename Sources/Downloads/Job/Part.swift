import Foundation
import HTTPSemantics

/// The bytes had so far: an entity of its own, so that it can outlive the attempt and be handed on.
public struct Part: Sendable, Equatable {
    public var id: PartID
    /// Where the bytes came from.
    public var url: String
    public var validators: Validators
    public var label: FileLabel
    /// Bytes of the whole representation; nil while no response has said.
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

    /// What an attempt asks for first to go on from these bytes: up to the next ones that are there already.
    public var rest: RequestedRange {
        let gap = size.flatMap { ranges.gaps(upTo: $0).first }
        var asked = RequestedRange(offset: gap?.lowerBound ?? ranges.prefix, validators: validators, size: size)
        if let gap, gap.upperBound != size { asked.end = gap.upperBound }
        asked.bytesHad = bytesDurable
        return asked
    }

    /// What is missing; of a file whose size is not known, everything behind the bytes had.
    public var missing: [Range<Int64>] { size.map(ranges.gaps(upTo:)) ?? [ranges.end..<Int64.max] }
}

extension Part {
    /// How long it is kept while nothing is added to it. The clock stands still while its job is paused.
    public struct Expiry: Sendable, Equatable {
        /// Seconds: the session's `resume_data_ttl_seconds`, as it was when bytes last came.
        public var lifetime: TimeInterval
        /// nil while an attempt is under way: what grows does not age.
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
