import Downloads
import Formats

/// Writes the part of a job as the difference between the stored version and the new one.
extension Transaction {
    func savePart(of job: Job, replacing stored: Part?) throws {
        switch (stored, job.part) {
        case (nil, nil): break
        case (let stored?, nil): try removePart(stored.id)
        case (let stored, let part?):
            guard part != stored else { break }
            if let stored, stored.id != part.id { try dropFile(of: stored.id) }
            if stored?.id != part.id { try keepFile(of: part.id) }
            if !part.hasSameBytes(as: stored) { try save(part, of: job.id) }
            if part.expiry != stored?.expiry ?? Part.Expiry() { try updateExpiry(of: part) }
        }
    }

    /// Inserts the part, or replaces the part of the job. The expiry of a replaced part stays.
    private func save(_ part: Part, of job: JobID) throws {
        try run(
            """
            INSERT INTO parts (id, job, url, etag, last_modified, last_modified_is_strong, is_encoded, size,
                bytes_durable, ranges, content_type, content_disposition, digests)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (job) DO UPDATE SET id = excluded.id, url = excluded.url, etag = excluded.etag,
                last_modified = excluded.last_modified, last_modified_is_strong = excluded.last_modified_is_strong,
                is_encoded = excluded.is_encoded, size = excluded.size, bytes_durable = excluded.bytes_durable,
                ranges = excluded.ranges, content_type = excluded.content_type,
                content_disposition = excluded.content_disposition, digests = excluded.digests
            """,
            [
                part.id.text, job.text, sealer.url(part.url, of: part.id), part.validators.etag,
                part.validators.lastModified,
                part.validators.lastModifiedIsStrong, part.validators.isEncoded, part.size, part.bytesDurable,
                part.ranges.isPrefix ? nil : try Stored.text(part.ranges.pairs), part.label.contentType,
                part.label.contentDisposition,
                part.label.digests.isEmpty ? nil : try Stored.text(part.label.digests),
            ])
    }

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

extension Part {
    /// Whether the parts differ in their expiry at most.
    fileprivate func hasSameBytes(as other: Part?) -> Bool {
        guard var other else { return false }
        other.expiry = expiry
        return self == other
    }
}
