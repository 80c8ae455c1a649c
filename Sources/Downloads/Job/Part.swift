import Formats
import Foundation
import HTTPSemantics

/// The received bytes of a job. A part is an entity of its own, so that it can outlive the attempt and pass to another job.
public struct Part: Sendable, Equatable {
    public var id: PartID
    public var url: String
    public var validators: Validators
    public var label: FileLabel
    /// The number of bytes of the complete representation; nil until a response states it.
    public var size: Int64?
    /// Durable: these bytes are on disk, synced, and belong to these validators.
    public var ranges: ByteRanges
    /// Whether bytes of several responses were joined because they were equal, and not by a validator.
    public var isJoinedByEvidence = false
    public var expiry: Expiry
    /// Pieces that did not match their digests are not in `ranges` any more, so that the others need not be fetched again. Not stored.
    public var lacksWrongPieces = false
    /// The number of first bytes that are in a bucket only; nil: the part goes to no bucket. Not stored with the part.
    public var released: Int64?

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

    /// The bytes that its file has.
    public var onDisk: ByteRanges { ranges.subtracting(ByteRanges(prefix: released ?? 0)) }

    /// The first request that continues from these bytes: from the first missing byte to the next bytes on disk.
    public var rest: RequestedRange {
        let gap = size.flatMap { ranges.gaps(upTo: $0).first }
        var asked = RequestedRange(offset: gap?.lowerBound ?? ranges.prefix, validators: validators, size: size)
        if let gap, gap.upperBound != size { asked.end = gap.upperBound }
        asked.presentBytes = bytesDurable
        return asked
    }

    /// The missing bytes. If the size is unknown: everything after the received bytes.
    public var missing: [Range<Int64>] { size.map(ranges.gaps(upTo:)) ?? [ranges.end..<Int64.max] }

    /// How long a part is kept while no bytes are added to it. The countdown stops while the job is paused.
    public struct Expiry: Sendable, Equatable {
        /// In seconds. It is the session's `resume_data_ttl_seconds` at the time when the part last received bytes.
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

/// A part's identifier: `part_` and a ULID; also the name of its file. If several services share the database, the number and
/// the epoch of the node follow that made the part. The location of the file follows if it is not `default`:
/// `part_01HZX3K9V7Q2N4R8T6W0YB5CDH-3.2@films`. No identifier is used again.
public struct PartID: Sendable, Hashable, Codable, CustomStringConvertible {
    public let text: String
    public init(_ text: String) { self.text = text }

    /// - Parameter owner: the node that makes the part; nil in a database of one service.
    public static func make(_ ulid: ULID, by owner: Node? = nil, in location: Name = .default) -> PartID {
        PartID(
            "part_\(ulid)" + (owner.map { "-\($0.number).\($0.epoch)" } ?? "")
                + (location == .default ? "" : "@\(location)"))
    }

    /// The location in whose folder the file is.
    public var location: Name {
        text.firstIndex(of: "@").map { Name(trusted: String(text[text.index(after: $0)...])) } ?? .default
    }

    /// The node that made the part; nil if it was made in a database of one service.
    public var owner: Node? {
        let text = text.prefix { $0 != "@" }
        guard let mark = text.utf8.lastIndex(of: UInt8(ascii: "-")) else { return nil }
        let numbers = text[mark...].dropFirst().split(separator: ".", omittingEmptySubsequences: false)
        guard numbers.count == 2, let number = Int64(numbers[0]), let epoch = Int64(numbers[1]), number > 0, epoch > 0
        else { return nil }
        return Node(number: number, epoch: epoch)
    }

    public var description: String { text }
}

/// One run of a service that shares its PostgreSQL database with others. A service that starts again is the same node with a
/// larger epoch.
public struct Node: Sendable, Hashable {
    /// Identifies the service in its database; at least 1.
    public let number: Int64
    /// Raised when the service starts, and when others take over its work; at least 1.
    public let epoch: Int64

    public init(number: Int64, epoch: Int64) {
        self.number = number
        self.epoch = epoch
    }
}

/// The bytes of a file that are present: half-open ranges, counted from 0, in ascending order, without overlap.
public typealias ByteRanges = RangeSet<Int64>

extension ByteRanges {
    public init(prefix count: Int64) { self.init(0..<Swift.max(0, count)) }

    /// Pairs of first position and end, as they are stored and shown; nil if the pairs are not ascending ranges with
    /// gaps between them.
    public init?(pairs: [[Int64]]) {
        self.init()
        var end: Int64 = -1
        for pair in pairs {
            // Adjacent ranges would be one range.
            guard pair.count == 2, pair[0] > end, pair[0] >= 0, pair[1] > pair[0] else { return nil }
            end = pair[1]
            insert(contentsOf: pair[0]..<pair[1])
        }
    }

    public var pairs: [[Int64]] { ranges.map { [$0.lowerBound, $0.upperBound] } }

    public var count: Int64 { ranges.reduce(0) { $0 + Int64($1.count) } }

    public var prefix: Int64 { ranges.first.map { $0.lowerBound == 0 ? $0.upperBound : 0 } ?? 0 }

    public var end: Int64 { ranges.last?.upperBound ?? 0 }

    public var isPrefix: Bool { prefix == end }

    public func gaps(upTo size: Int64) -> [Range<Int64>] {
        guard size > 0 else { return [] }
        return Array(ByteRanges(0..<size).subtracting(self).ranges)
    }
}
