import Downloads
import Foundation

/// A verified part that is to become a file.
struct PromotionOrder: Sendable {
    var attempt: Attempt
    var whole: WholePart
    var sha256: String?
}

extension PromotionOrder {
    /// The name that was asked for, or that the response suggests.
    var filename: String {
        attempt.spec.filename
            ?? SuggestedFilename.from(
                contentDisposition: whole.head.value(of: "content-disposition"), url: attempt.spec.url)
    }

    func promotion(path: String, inode: UInt64, at now: Date) -> Promotion {
        Promotion(
            part: whole.file.id, inode: inode, conflict: attempt.spec.conflict,
            file: FinishedFile(
                path: path, size: whole.size, sha256: sha256, contentType: whole.head.value(of: "content-type")),
            receipt: receipt(at: now))
    }

    private func receipt(at now: Date) -> Receipt {
        let metrics = whole.metrics
        return Receipt(
            finalURL: whole.url, redirects: whole.redirects, status: whole.head.status,
            etag: whole.head.value(of: "etag"), lastModified: whole.head.value(of: "last-modified"),
            remoteAddress: metrics.remoteAddress, networkProtocol: metrics.protocolVersion ?? whole.head.httpVersion,
            lengthVerified: whole.isLengthVerified, attempts: attempt.job.attempts,
            timings: Receipt.Timings(
                connect: metrics.connect?.seconds ?? 0, firstByte: metrics.timeToFirstByte?.seconds ?? 0,
                transfer: max(0, ((metrics.total ?? .zero) - (metrics.timeToFirstByte ?? .zero)).seconds),
                total: now.seconds(since: attempt.job.startedAt ?? now)))
    }
}

extension Duration {
    fileprivate var seconds: Double {
        let (whole, attoseconds) = components
        // Microseconds are plenty, and read better.
        return (Double(whole) * 1e6 + (Double(attoseconds) / 1e12).rounded()) / 1e6
    }
}
