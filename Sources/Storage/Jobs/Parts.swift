import Downloads
import Formats
import Foundation

/// The table `parts`, which a job is read with.
///
/// - `ranges`: `[[first, end], ...]` when the ranges are not one prefix of `bytes_durable` bytes. Their end can be above that
///   number, but never above the size.
/// - `digests`: those of the server as JSON; NULL when it sent none.
/// - `expires_at`: a running countdown. A stopped one is `lifetime_left`, the remaining milliseconds.
///
/// `parts_short_lived` has the parts that may expire within the first hour after a start or a jump of the clock.
struct PartTable: Sendable {
    static let parts = PartTable(after: JobTable.jobs.columns.end)

    struct Row: Sendable {
        let part: Part
        let job: JobID
    }

    let id, url, etag, lastModified, lastModifiedIsStrong, isEncoded, etagIsRecent, isJoinedByEvidence, size,
        bytesDurable: Int
    let lifetime, expiresAt, lifetimeLeft, contentType, contentDisposition, ranges, digests: Int
    let columns: RowColumns<Row>

    private init(after first: Int) {
        var all = RowColumns<Row>(from: first)
        id = all.add(.text("id", "NOT NULL PRIMARY KEY"), .initial) { $0.part.id.text }
        all.add(.text("job", "NOT NULL UNIQUE REFERENCES jobs (id) ON DELETE CASCADE"), .fixed, isRead: false) {
            $0.job.text
        }
        url = all.add(.sealed("url", "NOT NULL"), .initial, ifChanged: { $0.part.url != $1.part.url }) { row, change in
            change.sealer.url(row.part.url, of: row.part.id)
        }
        etag = all.add(.text("etag"), .initial) { $0.part.validators.etag }
        lastModified = all.add(.text("last_modified"), .initial) { $0.part.validators.lastModified }
        lastModifiedIsStrong = all.add(.flag("last_modified_is_strong", default: nil), .initial) {
            $0.part.validators.lastModifiedIsStrong
        }
        isEncoded = all.add(.flag("is_encoded", default: nil), .initial) { $0.part.validators.isEncoded }
        size = all.add(.integer("size", "CHECK (size >= 0)"), .initial) { $0.part.size }
        bytesDurable = all.add(.count("bytes_durable"), .initial) { $0.part.bytesDurable }
        lifetime = all.add(.count("lifetime", "DEFAULT 604800000")) { $0.part.expiry.lifetimeMilliseconds }
        expiresAt = all.add(.moved("expires_at", by: .where("expires_at IS NOT NULL"))) {
            $0.part.expiry.countdown?.end?.milliseconds
        }
        lifetimeLeft = all.add(.integer("lifetime_left")) { $0.part.expiry.countdown?.leftMilliseconds }
        contentType = all.add(.text("content_type"), .initial) { $0.part.label.contentType }
        contentDisposition = all.add(.text("content_disposition"), .initial) { $0.part.label.contentDisposition }
        ranges = all.add(
            .text("ranges", "CHECK (ranges LIKE '[[%]]')"), .initial, ifChanged: { $0.part.ranges != $1.part.ranges }
        ) { row, _ in row.part.ranges.isPrefix ? nil : try RowCoding.text(row.part.ranges.pairs) }
        digests = all.add(
            .text("digests"), .initial, ifChanged: { $0.part.label.digests != $1.part.label.digests }
        ) { row, _ in row.part.label.digests.isEmpty ? nil : try RowCoding.text(row.part.label.digests) }
        etagIsRecent = all.add(.flag("etag_is_recent", since: 26), .initial) { $0.part.validators.etagIsRecent }
        isJoinedByEvidence = all.add(.flag("joined_by_evidence", since: 26), .initial) { $0.part.isJoinedByEvidence }
        columns = all
    }
}

extension Schema {
    static let parts = Table(
        name: "parts", columns: PartTable.parts.columns.columns,
        constraints: ["CHECK (size IS NULL OR bytes_durable <= size)"],
        indexes: [
            Index("parts_expiring", "expires_at", where: "expires_at IS NOT NULL"),
            Index("parts_short_lived", "expires_at", where: "expires_at IS NOT NULL AND lifetime < 3600000"),
        ],
        storage: "fillfactor = 80",
        sealedBy: ["id"])
}

extension Transaction {
    func savePart(of job: Job, replacing stored: Part?) throws {
        switch (stored, job.part) {
        case (nil, nil): break
        case (let stored?, nil): try removePart(stored.id)
        case (let stored?, let part?) where stored.id == part.id:
            let (before, after) = (PartTable.Row(part: stored, job: job.id), PartTable.Row(part: part, job: job.id))
            let changes = try PartTable.parts.columns.changes(from: before, to: after, in: self)
            try update("parts", changes, id: part.id.text)
            if part.expiry != stored.expiry { wake(.parts) }
        case (let stored, let part?):
            if let stored { try dropFile(of: stored.id) }
            try keepFile(of: part.id)
            try save(part, of: job.id)
            if part.expiry != stored?.expiry ?? Part.Expiry() { try updateExpiry(of: part) }
        }
    }

    /// Inserts the part, or replaces the part of the job. The expiry of a replaced part stays.
    private func save(_ part: Part, of job: JobID) throws {
        let row = PartTable.Row(part: part, job: job)
        try run(Self.storePart, SQLArguments(try Self.partColumns.map { try $0.value(row, self) }))
    }

    private static let partColumns = PartTable.parts.columns.inserted
    private static let storePart: String = {
        let names = partColumns.map(\.column.name)
        let changed = partColumns.filter { $0.role != .fixed }.map { "\($0.column.name) = excluded.\($0.column.name)" }
        return """
            INSERT INTO parts (\(names.joined(separator: ", ")))
            VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))
            ON CONFLICT (job) DO UPDATE SET \(changed.joined(separator: ", "))
            """
    }()

    private func updateExpiry(of part: Part) throws {
        try run(
            "UPDATE parts SET lifetime = ?, expires_at = ?, lifetime_left = ? WHERE id = ?",
            [
                part.expiry.lifetimeMilliseconds, part.expiry.countdown?.end?.milliseconds,
                part.expiry.countdown?.leftMilliseconds, part.id.text,
            ])
        wake(.parts)
    }

    private func removePart(_ id: PartID) throws {
        try run("DELETE FROM parts WHERE id = ?", [id.text])
        try dropFile(of: id)
    }
}

public struct PartLimits: Sendable, Equatable {
    /// Their total size; nil: unlimited.
    public var bytes: Int64?
    /// Their number; nil: unlimited.
    public var count: Int?

    public init(bytes: Int64? = nil, count: Int? = nil) {
        self.bytes = bytes
        self.count = count
    }
}

extension Store {
    /// The promised parts, each with the end of its last promised range.
    public func parts() async throws(StoreError) -> [PartID: Int64] {
        try await read { db in try Self.parts(in: db) }
    }

    /// The promised parts, and those that become files, of all services. Every other file in the folder of parts is
    /// left over from an earlier run. One snapshot has them all, because another service can move a part from the
    /// former to the latter, and back.
    public func neededParts() async throws(StoreError) -> [PartID: Int64] {
        try await read { [sealer] db in
            try Self.parts(in: db).merging(Self.partsInPromotion(in: db, sealer)) { $1 }
        }
    }

    /// The parts that become files, each with its size. They are complete and synced.
    private static func partsInPromotion(in db: SQLConnection, _ sealer: Sealer) throws -> [PartID: Int64] {
        try db.map(JobRow.select + "WHERE jobs.state = 'running' AND jobs.promotion IS NOT NULL") {
            try JobRow.job($0, sealer).state.finalizePlan
        }.compactMap(\.self).reduce(into: [:]) { $0[$1.part] = $1.file.size }
    }

    package static func parts(in db: SQLConnection) throws -> [PartID: Int64] {
        let parts = try db.map("SELECT id, bytes_durable, ranges FROM parts") { row in
            try (PartID(row["id"]), ByteRanges(stored: row["ranges"], count: row["bytes_durable"]).end)
        }
        return Dictionary(uniqueKeysWithValues: parts)
    }

    /// Removes the parts that have expired, then the oldest parts until the rest fits into the limits.
    ///
    /// - Parameter limits: also called on the writer's thread, because the limits can change before the write begins.
    public func expireParts(
        _ limits: @escaping @Sendable () -> PartLimits
    ) async throws -> (dropped: [PartID], next: Date?) {
        guard try await exceeds(limits()) else { return ([], try await nextExpiry()) }
        let dropped = try await writer.write { transaction in
            let now = transaction.now
            let expired = try transaction.rows(
                "SELECT id, job, bytes_durable FROM parts WHERE expires_at <= ? AND lifetime <= ?",
                [now.milliseconds, transaction.confidence.longestRemovableLifetime(at: now)])
            return try expired.map(transaction.forget) + transaction.evictParts(limits())
        }
        return (dropped, try await nextExpiry())
    }

    private func exceeds(_ limits: PartLimits) async throws -> Bool {
        let (now, confidence) = (time.now, time.confidence)
        return try await read { db in
            try db.value(
                """
                SELECT EXISTS (SELECT 1 FROM parts WHERE expires_at <= ? AND lifetime <= ?)
                    OR (SELECT part_bytes FROM service_counts) > ?
                    OR (SELECT parts FROM service_counts) > ?
                """,
                [
                    now.milliseconds, confidence.longestRemovableLifetime(at: now), limits.bytes ?? .max,
                    limits.count ?? .max,
                ]) ?? false
        }
    }

    /// The time of the next expiry. Parts don't expire in the first hour after a start or a jump of the clock.
    private func nextExpiry() async throws -> Date? {
        let confidence = time.confidence
        return try await read { db in
            let short = try db.rows(Self.shortLived).map { row in
                let quietEnd = try confidence.removalStart(forDataKeptFor: Double(row["lifetime"] as Int64) / 1000)
                return try max(row.time("expires_at"), quietEnd)
            }
            let quietEnd = confidence.removalStart(forDataKeptFor: .infinity)
            let first = try db.time(Self.firstExpiry).map { max($0, quietEnd) }
            return (short + [first].compactMap(\.self)).min()
        }
    }

    private static let shortLived =
        "SELECT expires_at, lifetime FROM parts WHERE expires_at IS NOT NULL AND lifetime < 3600000"
    private static let firstExpiry = "SELECT min(expires_at) FROM parts WHERE expires_at IS NOT NULL"
}

extension ClockConfidence {
    /// Milliseconds. Data with a longer lifetime must not be removed now.
    func longestRemovableLifetime(at now: Date) -> Int64 {
        allowsRemoval(ofDataKeptFor: .infinity, at: now) ? .max : now.milliseconds - steadySince.milliseconds
    }
}

extension Transaction {
    /// Removes the oldest parts first. Parts of running jobs are not resume data and stay.
    func evictParts(_ limits: PartLimits) throws -> [PartID] {
        let parts = try rows(
            """
            SELECT parts.id, parts.job, bytes_durable FROM parts JOIN jobs ON jobs.id = parts.job
            WHERE jobs.state <> 'running' ORDER BY parts.id
            """)
        let (bytes, count) = (limits.bytes ?? .max, limits.count ?? .max)
        var excess = try parts.reduce(0) { try $0 + ($1["bytes_durable"] as Int64) } - bytes
        var evicted: [PartID] = []
        for part in parts where excess > 0 || parts.count - evicted.count > count {
            excess -= try part["bytes_durable"] as Int64
            evicted.append(try forget(part))
        }
        return evicted
    }

    /// Removes the part and sets `part_lost`, so that the job reports the restart like any other loss of bytes.
    /// `disproved` is about the removed bytes, so it is cleared.
    func forget(_ part: SQLRow) throws -> PartID {
        var job = try job(JobID(part["job"]))
        job.revision += 1
        job.isPartLost = try (part["bytes_durable"] as Int64) > 0
        job.isCorrupt = false
        job.part = nil
        try save(job)
        return try PartID(part["id"])
    }

    /// Moves the part of an idle job to a job that is being created.
    ///
    /// - Parameters:
    ///   - index: the index of the new job in its request.
    ///   - creator: if it cannot see the donor, the error is that of a donor that does not exist.
    /// - Throws: `noResumeData`.
    func adoptPart(of donor: JobID, by heir: Job, at index: Int, _ creator: JobCreator) throws {
        guard var job = try? job(donor), creator.visible.contain(job.session) else {
            throw StoreError.noResumeData(donor, why: "the job does not exist", index: index)
        }
        switch job.state {
        case .paused, .failed, .cancelled: break
        case .queued, .running, .waiting, .succeeded:
            throw StoreError.noResumeData(
                donor, why: "the job is \(job.state.name.rawValue), not paused, failed or cancelled", index: index)
        }
        guard var part = job.part else {
            throw StoreError.noResumeData(donor, why: "the job has no resume data", index: index)
        }
        part.expiry.countdown = (part.expiry.countdown ?? .stopped(left: part.expiry.lifetime)).running(at: now)
        job.part = nil
        job.revision += 1
        try save(job)
        var heir = heir
        heir.part = part
        try save(heir)
        try moveUpload(of: part.id, from: donor, to: heir.id)
    }
}
