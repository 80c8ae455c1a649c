import Downloads
import Formats
import Foundation
import HTTPSemantics
import Storage

/// A verified part that has to become a file.
struct PromotionOrder: Sendable {
    var attempt: Attempt
    var whole: WholePart
    /// Lowercase hexadecimal digests, by algorithm.
    var digests: [Checksum.Algorithm: String]
    /// The job's destination. A patch may change it until the promotion is committed.
    var destination: Destination

    init(attempt: Attempt, whole: WholePart, digests: [Checksum.Algorithm: String]) {
        self.attempt = attempt
        self.whole = whole
        self.digests = digests
        destination = attempt.destination
    }

    /// The same order with the job's present destination.
    var renewed: PromotionOrder { PromotionOrder(attempt: attempt, whole: whole, digests: digests) }

    /// The report that is committed with the plan, if the client has not changed the destination.
    var report: AttemptReport {
        AttemptReport(
            admission: attempt.job.admissions, received: attempt.progress.transferred, hasGained: true,
            resume: attempt.resume, destination: destination)
    }

    var place: Place { attempt.spec.sessionPlace.specified(by: destination) }
}

extension PromotionOrder {
    /// The name that the job specifies, or the name that the response suggests.
    func filename(at now: Date) -> String {
        let template = place.filename.flatMap(FilenameTemplate.init) ?? .suggested
        return template.name(
            contentDisposition: whole.label.contentDisposition, url: attempt.spec.url, finalURL: whole.url,
            job: attempt.job.id, at: now)
    }

    func promotion(path: String, mark: FileMark, at now: Date) -> Promotion {
        let sha256 = attempt.spec.digest == .sha256 ? digests[.sha256] : nil
        return Promotion(
            part: whole.file.id, inode: mark.inode, conflict: place.conflict,
            file: FinishedFile(
                path: path, size: whole.size, sha256: sha256, contentType: whole.label.contentType, mark: mark),
            receipt: receipt(at: now))
    }

    /// Bytes that match a digest are complete.
    private var isLengthVerified: Bool { whole.isLengthVerified || !attempt.spec.claims(whole.label).isEmpty }

    private var coding: Receipt.Coding? {
        let digest = attempt.spec.digest
        if let decoding = whole.decoding { return decoding.received(digest) }
        let facts = ResponseFacts(status: whole.head.status, headers: whole.head.headers)
        return facts.contentCoding.map { name in
            Receipt.Coding(
                name: name, isDecoded: false, size: whole.size, sha256: digest == .sha256 ? digests[.sha256] : nil)
        }
    }

    private func receipt(at now: Date) -> Receipt {
        let metrics = whole.metrics
        return Receipt(
            finalURL: whole.url, redirects: whole.redirects, status: whole.head.status,
            etag: whole.validators.etag, lastModified: whole.validators.lastModified,
            remoteAddress: metrics.remoteAddress, networkProtocol: metrics.protocolVersion ?? whole.head.httpVersion,
            lengthVerified: isLengthVerified, coding: coding, attempts: attempt.job.attempts,
            timings: Receipt.Timings(
                connect: metrics.connect?.seconds ?? 0, firstByte: metrics.timeToFirstByte?.seconds ?? 0,
                transfer: max(0, ((metrics.total ?? .zero) - (metrics.timeToFirstByte ?? .zero)).seconds),
                // The clock may have been set back since the start.
                total: max(0, now.seconds(since: attempt.job.startedAt ?? now))))
    }
}

extension Duration {
    fileprivate var seconds: Double {
        let (whole, attoseconds) = components
        // Microseconds are precise enough, and are easier to read.
        return (Double(whole) * 1e6 + (Double(attoseconds) / 1e12).rounded()) / 1e6
    }
}
