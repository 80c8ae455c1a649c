import Downloads
import Formats
import Foundation

/// What a job has begun to put into a bucket.
public struct StoredUpload: Sendable, Equatable {
    public struct Piece: Sendable, Equatable {
        /// 1 to 10,000.
        public var number: Int
        public var etag: String
        /// Of its bytes, in lowercase hexadecimal.
        public var sha256: String

        public init(number: Int, etag: String, sha256: String) {
            self.number = number
            self.etag = etag
            self.sha256 = sha256
        }
    }

    /// The first bytes of a part that are in the bucket only: their place on the disk is given back.
    public struct Released: Sendable, Equatable {
        public var count: Int64
        /// Of exactly these bytes, as `StorableDigests` stores them.
        public var digests: [String: String]

        public init(count: Int64, digests: [String: String]) {
            self.count = count
            self.digests = digests
        }
    }

    public let job: JobID
    public let location: Name
    public let key: String
    /// The bytes of the object.
    public let part: PartID
    /// What the object has in its metadata, so that fetchd recognizes it although an answer was lost.
    public let mark: String
    /// Bytes of each part but the last; nil: the object is put with one request.
    public let partSize: Int64?
    public let begunAt: Date
    /// nil: the object is put with one request, or the bucket may have an upload whose identifier fetchd never learned.
    public var id: String?
    /// Whether nothing of it is to stay in the bucket, because the job has ended without it.
    public var isAbandoned = false
    /// Those that the bucket has, in ascending order.
    public var pieces: [Piece] = []
    /// nil: all bytes of the part are on the disk.
    public var released: Released?

    /// - Parameter mark: nil for a new upload.
    public init(
        job: JobID, location: Name, key: String, part: PartID, partSize: Int64?, begunAt: Date, mark: String? = nil
    ) {
        self.mark = mark ?? "\(part.text)-\(begunAt.milliseconds)"
        self.job = job
        self.location = location
        self.key = key
        self.part = part
        self.partSize = partSize
        self.begunAt = begunAt
    }
}

extension Store {
    /// - Returns: nil if the job has begun none.
    public func upload(of job: JobID) async throws(StoreError) -> StoredUpload? {
        try await read { db in
            try Self.uploads(in: db, "WHERE job = ?", [job.text]).first
        }
    }

    /// Stores that the job begins to put an object into a bucket. This is committed before the first request, so that a later
    /// start finds what the bucket has.
    public func beginUpload(_ upload: StoredUpload) async throws {
        try await writer.write { transaction in
            try transaction.forgetReleased(by: upload.job)
            try transaction.removeUpload(of: upload.job)
            try transaction.run(
                """
                INSERT INTO uploads (job, location, object_key, part, part_size, begun_at, mark)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    upload.job.text, upload.location.text, upload.key, upload.part.text, upload.partSize,
                    upload.begunAt.milliseconds, upload.mark,
                ])
        }
    }

    /// Stores the identifier that the bucket has given to the upload.
    public func note(uploadID id: String, of upload: StoredUpload) async throws {
        try await writer.write { transaction in
            try transaction.run(
                "UPDATE uploads SET upload_id = ? WHERE job = ? AND part = ?", [id, upload.job.text, upload.part.text])
        }
    }

    /// Stores that the bucket has a part. One with the same number is replaced.
    public func note(_ piece: StoredUpload.Piece, of upload: StoredUpload) async throws {
        try await writer.write { transaction in try transaction.save(piece, of: upload) }
    }

    /// Stores that the bucket has a part of a file that still grows, and that the first bytes of the file need no place on the disk
    /// any more: one commit stores both, and the digests of these bytes.
    ///
    /// - Returns: false if the attempt has ended. Nothing has changed then.
    public func note(
        _ piece: StoredUpload.Piece, of upload: StoredUpload, releasing released: StoredUpload.Released?,
        admission: Int
    ) async throws -> Bool {
        try await writer.write { transaction in
            guard let job = try? transaction.job(upload.job), job.isAttempting(admission) else { return false }
            try transaction.save(piece, of: upload)
            if let released {
                try transaction.run(
                    "UPDATE uploads SET released = ?, digest_states = ? WHERE job = ? AND upload_id = ? AND part = ?",
                    [
                        released.count, try RowCoding.text(released.digests), upload.job.text, upload.id,
                        upload.part.text,
                    ])
            }
            return true
        }
    }

    /// Forgets an upload of which the bucket has nothing.
    public func forget(_ upload: StoredUpload) async throws {
        try await writer.write { transaction in
            try transaction.forgetReleased(by: upload.job)
            try transaction.run(
                "DELETE FROM uploads WHERE job = ? AND part = ? AND object_key = ? AND begun_at = ?",
                [upload.job.text, upload.part.text, upload.key, upload.begunAt.milliseconds])
        }
    }

    /// Marks the uploads whose jobs have ended without them, or do not exist any more. A later attempt of such a job begins
    /// another one.
    ///
    /// - Returns: these uploads, also those that were marked before.
    public func abandonUploads(in location: Name, limit: Int = 100) async throws -> [StoredUpload] {
        let isAny = try await read { db in
            try db.row(
                "SELECT 1 FROM uploads WHERE location = ? AND (is_abandoned = 1 OR \(Self.hasNoJob)) LIMIT 1",
                [location.text]) != nil
        }
        guard isAny else { return [] }
        return try await writer.write { transaction in
            try transaction.run("UPDATE uploads SET is_abandoned = 1 WHERE is_abandoned = 0 AND \(Self.hasNoJob)", [])
            return try Self.uploads(
                in: transaction.db, "WHERE location = ? AND is_abandoned = 1 ORDER BY begun_at LIMIT ?",
                [location.text, limit])
        }
    }

    /// What a bucket has of the resume data of a job stays as long as these.
    private static let hasNoJob = """
        NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.id = uploads.job
            AND jobs.state IN ('queued', 'running', 'waiting', 'paused'))
        AND (released = 0 OR NOT EXISTS (SELECT 1 FROM parts WHERE parts.id = uploads.part))
        """

    private static func uploads(
        in db: SQLConnection, _ condition: String, _ arguments: SQLArguments
    ) throws -> [StoredUpload] {
        try db.rows("SELECT * FROM uploads \(condition)", arguments).map { row in
            var upload = StoredUpload(
                job: try JobID(row["job"]), location: Name(trusted: try row["location"]), key: try row["object_key"],
                part: try PartID(row["part"]), partSize: try row["part_size"], begunAt: try row.time("begun_at"),
                mark: try row["mark"])
            upload.id = try row["upload_id"]
            upload.isAbandoned = try row["is_abandoned"]
            upload.pieces = try db.rows(
                "SELECT number, etag, sha256 FROM upload_parts WHERE job = ? ORDER BY number", [upload.job.text]
            ).map { try StoredUpload.Piece(number: $0["number"], etag: $0["etag"], sha256: $0["sha256"]) }
            if let states: String = try row["digest_states"], try row["released"] as Int64 > 0 {
                upload.released = StoredUpload.Released(
                    count: try row["released"], digests: try RowCoding.value([String: String].self, from: states))
            }
            return upload
        }
    }
}

extension Transaction {
    /// Also removes its parts.
    func removeUpload(of job: JobID) throws { try run("DELETE FROM uploads WHERE job = ?", [job.text]) }

    fileprivate func save(_ piece: StoredUpload.Piece, of upload: StoredUpload) throws {
        try run(
            """
            INSERT INTO upload_parts (job, number, etag, sha256)
            SELECT job, ?, ?, ? FROM uploads WHERE job = ? AND upload_id = ?
            ON CONFLICT (job, number) DO UPDATE SET etag = excluded.etag, sha256 = excluded.sha256
            """,
            [piece.number, piece.etag, piece.sha256, upload.job.text, upload.id])
    }

    /// Called before an upload is forgotten. If only the bucket has the first bytes of the job's part, the job has lost its part.
    fileprivate func forgetReleased(by job: JobID) throws {
        let part = try row(
            """
            SELECT parts.id, parts.job, bytes_durable FROM parts JOIN uploads ON uploads.part = parts.id
            WHERE uploads.job = ? AND uploads.released > 0
            """, [job.text])
        if let part { _ = try forget(part) }
    }

    /// The upload of a part follows it to another job, if only the bucket has its first bytes.
    func moveUpload(of part: PartID, from donor: JobID, to heir: JobID) throws {
        try run(
            """
            INSERT INTO uploads (job, location, object_key, part, upload_id, part_size, begun_at, mark, released,
                digest_states)
            SELECT ?, location, object_key, part, upload_id, part_size, begun_at, mark, released, digest_states
            FROM uploads WHERE job = ? AND part = ? AND released > 0 AND is_abandoned = 0
            """, [heir.text, donor.text, part.text])
        try run(
            "UPDATE upload_parts SET job = ? WHERE job = ? AND EXISTS (SELECT 1 FROM uploads WHERE job = ?)",
            [heir.text, donor.text, heir.text])
        try run(
            "DELETE FROM uploads WHERE job = ? AND EXISTS (SELECT 1 FROM uploads AS moved WHERE moved.job = ?)",
            [donor.text, heir.text])
    }
}
