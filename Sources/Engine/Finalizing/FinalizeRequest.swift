import Downloads
import Formats
import Foundation
import HTTPSemantics
import Storage

struct FinalizeRequest: Sendable {
    var attempt: Attempt
    var complete: CompleteFile
    /// Lowercase hexadecimal digests, by algorithm.
    var digests: [Checksum.Algorithm: String]
    /// The job's destination. A patch may change it until the promotion is committed.
    var destination: Destination

    init(attempt: Attempt, complete: CompleteFile, digests: [Checksum.Algorithm: String]) {
        self.attempt = attempt
        self.complete = complete
        self.digests = digests
        destination = attempt.control.destination
    }

    var renewed: FinalizeRequest { FinalizeRequest(attempt: attempt, complete: complete, digests: digests) }

    var file: SegmentedFile { complete.file }

    /// The report that is committed with the plan, if the client has not changed the destination.
    var report: AttemptReport {
        AttemptReport(
            admission: attempt.job.admissions, received: attempt.control.transferred, madeProgress: true,
            resume: file.outcome, destination: destination)
    }

    var place: DestinationRule { attempt.spec.sessionDestination.specified(by: destination) }
}

extension FinalizeRequest {
    func filename(at now: Date) -> String { attempt.filename(of: file, at: place, at: now) }

    func promotion(path: String, mark: FileMark, at now: Date) -> FinalizePlan {
        let sha256 = attempt.spec.digest == .sha256 ? digests[.sha256] : nil
        return FinalizePlan(
            part: file.part.id, inode: mark.inode, conflict: place.conflict,
            file: FinishedFile(
                in: place.location == .default ? nil : place.location, path: path, size: complete.size, sha256: sha256,
                contentType: file.label.contentType, mark: mark),
            receipt: receipt(at: now))
    }

    /// Bytes that match a digest are complete.
    private var isLengthVerified: Bool {
        complete.isLengthVerified || !attempt.spec.claims(file.label).isEmpty || isVerifiedByPieces
    }

    private var isVerifiedByPieces: Bool {
        attempt.spec.pieces != nil && attempt.spec.checksum == nil && file.decoding == nil
    }

    private var verifiedBy: [DigestClaim.Claimant] {
        let claims = attempt.spec.claims(file.label) + (file.decoding?.claims ?? [])
        let ofPieces: [DigestClaim.Claimant] = isVerifiedByPieces ? [.pieces] : []
        return (claims.map(\.claimant) + ofPieces).map { $0 == .checksumFile ? .client : $0 }.reduce(into: []) {
            if !$0.contains($1) { $0.append($1) }
        }
    }

    private var resumedBy: Receipt.ResumeProof? {
        guard file.outcome.isResumed else { return nil }
        if file.evidence != .none { return .evidence }
        return file.isProven ? .validator : .checksum
    }

    private var coding: Receipt.Coding? {
        let digest = attempt.spec.digest
        if let decoding = file.decoding { return decoding.received(digest) }
        return ResponseFacts.contentCoding(of: complete.response.head.headers).map { name in
            Receipt.Coding(
                name: name, isDecoded: false, size: complete.size, sha256: digest == .sha256 ? digests[.sha256] : nil)
        }
    }

    private func receipt(at now: Date) -> Receipt {
        let metrics = complete.response.metrics
        return Receipt(
            finalURL: file.url, redirects: file.redirects, status: complete.response.head.status,
            etag: file.validators.etag, lastModified: file.validators.lastModified,
            remoteAddress: metrics.remoteAddress,
            networkProtocol: complete.response.head.httpVersion,
            lengthVerified: isLengthVerified, verifiedBy: verifiedBy, checksum: attempt.listed,
            droppedMirrors: attempt.droppedMirrors, resumedBy: resumedBy,
            coding: coding,
            attempts: attempt.job.attempts,
            timings: Receipt.Timings(
                connect: metrics.connect?.seconds ?? 0, firstByte: metrics.timeToFirstByte?.seconds ?? 0,
                transfer: max(0, ((metrics.total ?? .zero) - (metrics.timeToFirstByte ?? .zero)).seconds),
                // The clock may have been set back since the start.
                total: max(0, now.seconds(since: attempt.job.startedAt ?? now))))
    }
}

extension Attempt {
    func filename(of file: SegmentedFile, at place: DestinationRule, at now: Date) -> String {
        let template = place.filename.flatMap(FilenameTemplate.init) ?? .suggested
        return template.name(
            contentDisposition: file.label.contentDisposition, url: spec.url, finalURL: file.url, job: job.id, at: now)
    }
}

extension Duration {
    fileprivate var seconds: Double {
        let (whole, attoseconds) = components
        // Microseconds are precise enough, and are easier to read.
        return (Double(whole) * 1e6 + (Double(attoseconds) / 1e12).rounded()) / 1e6
    }
}
