import Foundation

/// Where a job is in its life; docs/job-lifecycle.md draws it. What only makes sense in one state is carried by that state.
public enum JobState: Sendable, Equatable {
    /// Not begun, or to be begun again: waits for a slot.
    case queued
    /// An attempt is under way.
    case running(Step)
    /// Goes on by itself or when somebody helps.
    case waiting(Wait)
    /// Somebody paused it; the part is kept.
    case paused
    /// The file is in place, durable, verified.
    case succeeded(Finish)
    /// It will not go on by itself.
    case failed(Failure)
    /// Somebody stopped it.
    case cancelled

    /// The durable half of `phase`: connecting, transferring, verifying and stopping are lost with the process and
    /// begun again, a promotion is carried on.
    public enum Step: Sendable, Equatable {
        case attempting
        case promoting(Promotion)
    }
}

extension JobState {
    /// The state's name in JSON, SQL and docs.
    public enum Name: String, Sendable, CaseIterable {
        case queued, running, waiting, paused, succeeded, failed, cancelled

        /// Owed to the session: a batch is due when none of its jobs is outstanding.
        public var isOutstanding: Bool {
            switch self {
            case .queued, .running, .waiting, .paused: true
            case .succeeded, .failed, .cancelled: false
            }
        }
    }

    public var name: Name {
        switch self {
        case .queued: .queued
        case .running: .running
        case .waiting: .waiting
        case .paused: .paused
        case .succeeded: .succeeded
        case .failed: .failed
        case .cancelled: .cancelled
        }
    }

    public var isOutstanding: Bool { name.isOutstanding }
    public var isTerminal: Bool { !isOutstanding }

    /// How it ended for its batch; nil while it is outstanding.
    public var ending: BatchSignal.Ending? {
        switch self {
        case .queued, .running, .waiting, .paused: nil
        case .succeeded: .succeeded
        case .failed: .failed
        case .cancelled: .cancelled
        }
    }

    public var failure: Failure? { if case .failed(let failure) = self { failure } else { nil } }
    public var finish: Finish? { if case .succeeded(let finish) = self { finish } else { nil } }
    public var wait: Wait? { if case .waiting(let wait) = self { wait } else { nil } }
    public var promotion: Promotion? {
        if case .running(.promoting(let promotion)) = self { promotion } else { nil }
    }
}

/// A verified part on its way to its destination; committed before the rename, so that a restart can carry it on.
public struct Promotion: Sendable, Equatable, Codable {
    public var part: PartID
    /// The file's inode number: tells the part, already renamed, from another file of that name.
    public var inode: UInt64
    public var conflict: Destination.Conflict
    public var file: FinishedFile
    public var receipt: Receipt

    public init(
        part: PartID, inode: UInt64, conflict: Destination.Conflict, file: FinishedFile, receipt: Receipt
    ) {
        self.part = part
        self.inode = inode
        self.conflict = conflict
        self.file = file
        self.receipt = receipt
    }
}

/// What a succeeded job leaves.
public struct Finish: Sendable, Equatable, Codable {
    public var file: FinishedFile
    public var receipt: Receipt

    public init(file: FinishedFile, receipt: Receipt) {
        self.file = file
        self.receipt = receipt
    }
}

/// The file in place.
public struct FinishedFile: Sendable, Equatable, Codable {
    /// From the downloads root, `/` between components.
    public var path: String
    /// Bytes.
    public var size: Int64
    /// Lowercase hexadecimal; nil where the job asked for `digest: "none"`.
    public var sha256: String?
    public var contentType: String?
    /// What tells it from whatever else comes to have its path; nil of files that were finished before it was kept.
    public var mark: FileMark?

    public init(path: String, size: Int64, sha256: String?, contentType: String?, mark: FileMark? = nil) {
        self.path = path
        self.size = size
        self.sha256 = sha256
        self.contentType = contentType
        self.mark = mark
    }

    /// Whether what has its path is this file, which may have been written to since, or a faithful copy: one that a move
    /// to another disk or a backup has put there keeps size and time.
    public func isThis(size: Int64, _ found: FileMark) -> Bool {
        guard let mark else { return true }
        return found.isOfSameFile(as: mark) || size == self.size && found.modified == mark.modified
    }
}

/// A file on disk, whatever its name.
public struct FileMark: Sendable, Equatable, Codable {
    public var inode: UInt64
    /// When it was made, in nanoseconds since 1970, where the file system keeps that: inode numbers are given again as
    /// soon as they are free.
    public var born: Int64?
    /// When its bytes were last written, in nanoseconds since 1970.
    public var modified: Int64

    public init(inode: UInt64, born: Int64?, modified: Int64) {
        self.inode = inode
        self.born = born
        self.modified = modified
    }

    /// Whether both are of one file, which may have been written to in between.
    public func isOfSameFile(as other: FileMark) -> Bool {
        guard inode == other.inode else { return false }
        guard let born, let others = other.born else { return true }
        return born == others
    }
}

/// What a finished job proves.
public struct Receipt: Sendable, Equatable, Codable {
    public var finalURL: String
    /// The addresses that were left by a redirect, in order.
    public var redirects: [String]
    public var status: Int
    public var etag: String?
    public var lastModified: String?
    public var remoteAddress: String?
    public var networkProtocol: String
    /// Whether the end of the body was known to the server's own word (a length, or chunks) or to `expected_size`, or its
    /// bytes bear a digest out.
    public var lengthVerified: Bool
    public var attempts: Int
    public var timings: Timings

    /// Seconds, of the last attempt; `total` is from the first attempt's start to the file in place.
    public struct Timings: Sendable, Equatable, Codable {
        public var connect: Double
        public var firstByte: Double
        public var transfer: Double
        public var total: Double

        public init(connect: Double, firstByte: Double, transfer: Double, total: Double) {
            self.connect = connect
            self.firstByte = firstByte
            self.transfer = transfer
            self.total = total
        }
    }

    public init(
        finalURL: String, redirects: [String], status: Int, etag: String?, lastModified: String?,
        remoteAddress: String?, networkProtocol: String, lengthVerified: Bool, attempts: Int, timings: Timings
    ) {
        self.finalURL = finalURL
        self.redirects = redirects
        self.status = status
        self.etag = etag
        self.lastModified = lastModified
        self.remoteAddress = remoteAddress
        self.networkProtocol = networkProtocol
        self.lengthVerified = lengthVerified
        self.attempts = attempts
        self.timings = timings
    }
}
