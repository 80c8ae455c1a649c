import HTTPSemantics

public struct JobResult: Sendable, Equatable, Codable {
    public var file: FinishedFile
    public var receipt: Receipt

    public init(file: FinishedFile, receipt: Receipt) {
        self.file = file
        self.receipt = receipt
    }
}

public struct FinishedFile: Sendable, Equatable, Codable {
    /// The location that it is in; nil: `default`, the downloads folder.
    public var location: Name?
    /// Relative to the folder of the location, with `/` between components.
    public var path: String
    public var size: Int64
    /// The SHA-256 in lowercase hexadecimal; nil if the job specified `digest: "none"`.
    public var sha256: String?
    public var contentType: String?
    /// Distinguishes the file from another file that later has the same path. nil for files that were finished by a
    /// version that did not store the mark.
    public var mark: FileMark?
    /// What a bucket says of the object; nil for a file in a folder.
    public var object: StoredObject?

    public init(
        in location: Name? = nil, path: String, size: Int64, sha256: String?, contentType: String?,
        mark: FileMark? = nil, object: StoredObject? = nil
    ) {
        self.location = location
        self.path = path
        self.size = size
        self.sha256 = sha256
        self.contentType = contentType
        self.mark = mark
        self.object = object
    }

    /// Whether the file found at the path is this file (possibly modified since) or a faithful copy of it. A copy that was moved
    /// from another disk or restored from a backup keeps size and time. Without a stored mark, every file counts as this one.
    public func isThis(size: Int64, _ found: FileMark) -> Bool {
        guard let mark else { return true }
        return found.isOfSameFile(as: mark) || size == self.size && found.modified == mark.modified
    }
}

/// An object in a bucket of S3-compatible storage.
public struct StoredObject: Sendable, Equatable, Codable {
    /// Without a signature.
    public var url: String
    /// With its quotation marks. Not always an MD5.
    public var etag: String
    /// nil if the bucket keeps no versions.
    public var versionID: String?

    public init(url: String, etag: String, versionID: String?) {
        self.url = url
        self.etag = etag
        self.versionID = versionID
    }
}

/// Identifies a file on disk independently of its name.
public struct FileMark: Sendable, Equatable, Codable {
    public var inode: UInt64
    /// The creation time in nanoseconds since 1970; nil if the file system does not record it. The inode number alone
    /// is not enough, because file systems reuse free numbers at once.
    public var born: Int64?
    /// The time of the last write, in nanoseconds since 1970.
    public var modified: Int64

    public init(inode: UInt64, born: Int64?, modified: Int64) {
        self.inode = inode
        self.born = born
        self.modified = modified
    }

    /// Whether both marks belong to the same file, which may have been modified in between. If a creation time is
    /// missing, the inode number alone decides.
    public func isOfSameFile(as other: FileMark) -> Bool {
        guard inode == other.inode else { return false }
        guard let born, let others = other.born else { return true }
        return born == others
    }
}

public struct Receipt: Sendable, Equatable, Codable {
    public var finalURL: String
    public var redirects: [String]
    public var status: Int
    public var etag: String?
    public var lastModified: String?
    public var remoteAddress: String?
    public var networkProtocol: String
    /// Whether the end of the body was confirmed: by the server (a length, or chunks), by `expected_size`, or by a
    /// digest that the bytes match.
    public var lengthVerified: Bool
    /// The sources of digests that the bytes match, without repetition; nil in receipts of versions that did not record them.
    public var verifiedBy: [DigestClaim.Claimant]?
    /// What a list of digests said about the file; nil if the job named none.
    public var checksum: ListedChecksum?
    /// Mirrors that the server of the job has named, and that the last attempt has given up; nil in receipts of versions that did not
    /// record them.
    public var droppedMirrors: [DroppedMirror]?
    /// What showed that the bytes of earlier attempts belong to the file; nil if the file is of one response.
    public var resumedBy: ResumeProof?
    /// The content coding of the response, for example gzip; nil if it had none.
    public var coding: Coding?
    public var attempts: Int
    public var timings: Timings

    public enum ResumeProof: String, Sendable, Codable, CaseIterable {
        /// The same strong ETag or date.
        case validator
        /// The checksum of the job, which the whole file matches.
        case checksum
        /// Equal bytes: see `ResumePolicy.evidence`.
        case evidence
    }

    /// How the server has coded the content, although fetchd asks for it uncoded.
    public struct Coding: Sendable, Equatable, Codable {
        /// The name that the server used, in lower case: `gzip`.
        public var name: String
        /// Whether the file has the decoded bytes. If not, it has the bytes as they were received.
        public var isDecoded: Bool
        public var size: Int64
        /// The sha-256 of the coded bytes in lowercase hexadecimal; nil if the job specified `digest: "none"`.
        public var sha256: String?

        public init(name: String, isDecoded: Bool, size: Int64, sha256: String?) {
            self.name = name
            self.isDecoded = isDecoded
            self.size = size
            self.sha256 = sha256
        }
    }

    /// In seconds, for the last attempt. `total` is the time from the start of the first attempt to the promotion.
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
        remoteAddress: String?, networkProtocol: String, lengthVerified: Bool,
        verifiedBy: [DigestClaim.Claimant]? = nil, checksum: ListedChecksum? = nil,
        droppedMirrors: [DroppedMirror]? = nil, resumedBy: ResumeProof? = nil, coding: Coding? = nil,
        attempts: Int, timings: Timings
    ) {
        self.finalURL = finalURL
        self.redirects = redirects
        self.status = status
        self.etag = etag
        self.lastModified = lastModified
        self.remoteAddress = remoteAddress
        self.networkProtocol = networkProtocol
        self.lengthVerified = lengthVerified
        self.verifiedBy = verifiedBy
        self.checksum = checksum
        self.droppedMirrors = droppedMirrors
        self.resumedBy = resumedBy
        self.coding = coding
        self.attempts = attempts
        self.timings = timings
    }
}

/// A mirror that an attempt has given up, and why.
public struct DroppedMirror: Sendable, Hashable, Codable {
    public var url: String
    public var code: Failure.Code
    public var message: String

    public init(url: String, code: Failure.Code, message: String) {
        self.url = url
        self.code = code
        self.message = message
    }

    func mapAddress(_ shown: (String) -> String) -> DroppedMirror {
        DroppedMirror(url: shown(url), code: code, message: message)
    }
}

/// The URLs of a receipt can have users and queries.
extension Receipt {
    public var holdsSecrets: Bool {
        URLRule.holdsSecret(finalURL) || redirects.contains(where: URLRule.holdsSecret)
            || checksum?.holdsSecret ?? false || (droppedMirrors ?? []).contains { URLRule.holdsSecret($0.url) }
    }

    /// The receipt as it is known without the key.
    public var withoutSecrets: Receipt {
        var receipt = self
        receipt.finalURL = URLRule.redacted(finalURL)
        receipt.redirects = redirects.map(URLRule.redacted)
        receipt.checksum = checksum?.mapAddresses(URLRule.redacted)
        receipt.droppedMirrors = droppedMirrors?.map { $0.mapAddress(URLRule.redacted) }
        return receipt
    }
}

/// The move of a verified part to its destination. It is committed before the rename, so that fetchd can continue it
/// after a restart.
public struct FinalizePlan: Sendable, Equatable, Codable {
    public var part: PartID
    /// The file's inode number. It distinguishes the renamed part from another file with that name.
    public var inode: UInt64
    public var conflict: Destination.Conflict
    public var file: FinishedFile
    public var receipt: Receipt

    public init(part: PartID, inode: UInt64, conflict: Destination.Conflict, file: FinishedFile, receipt: Receipt) {
        self.part = part
        self.inode = inode
        self.conflict = conflict
        self.file = file
        self.receipt = receipt
    }

    func result(_ object: StoredObject?) -> JobResult {
        var file = file
        file.object = object
        // The mark was that of the part.
        if object != nil { file.mark = nil }
        return JobResult(file: file, receipt: receipt)
    }
}
