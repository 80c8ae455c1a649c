import CurlClient
import Descriptors
import Downloads

/// The first request of an attempt: for the whole file, or for the bytes that the job's part lacks.
struct RequestPlan {
    var asked: RequestedRange
    /// The promised part that a partial response continues, and its open file.
    var continued: (part: Part, file: Descriptor)?
    /// The part has the whole file, so nothing is requested.
    private(set) var isWhole = false

    /// Continues a part only if it has a strong validator or the job has a checksum, and only if its bytes are on disk.
    ///
    /// - Returns: nil if this service has lost its lease.
    init?(for job: Job, _ spec: ResolvedSpec, in folder: DownloadsFolder) {
        self.init(continuing: job, spec, in: folder)
        // Only GET defines ranges (RFC 9110, section 14.2).
        asked.probesRanges = spec.connections > 1 && spec.method == .get
    }

    /// Requests the whole file, without a range, and continues no part.
    init(anew why: ResumeOutcome.RestartReason) { asked = Self.fromStart(why) }

    private init?(continuing job: Job, _ spec: ResolvedSpec, in folder: DownloadsFolder) {
        guard let part = job.part, part.bytesDurable > 0 else {
            asked = job.lossBefore.map { Self.fromStart($0) } ?? .whole
            return
        }
        let isWhole = part.isWhole(of: spec)
        guard isWhole || spec.canContinue(part.validators) else {
            asked = Self.fromStart(.noValidator)
            return
        }
        do throws(DownloadsFolder.PartLoss) {
            let file = try folder.openPart(part)
            continued = (part, file)
            asked = part.rest
            asked.restsOnChecksum = spec.restsOnChecksum
            if job.hasSyncFailed { asked.restart = .syncFailed }
            self.isWhole = isWhole
        } catch {
            switch error {
            case .missing: asked = Self.fromStart(.partMissing)
            case .shorterThanRecorded: asked = Self.fromStart(.partShorterThanRecorded)
            case .leaseLost: return nil
            }
        }
    }

    static func fromStart(_ why: ResumeOutcome.RestartReason, probing: Bool = false) -> RequestedRange {
        var asked = RequestedRange(offset: 0, restart: why)
        asked.probesRanges = probing
        return asked
    }
}

extension Part {
    /// Whether it has every byte of the file that the job wants. If the job has another URL since, or accepts no file of this
    /// size, the server may have the right one.
    fileprivate func isWhole(of spec: ResolvedSpec) -> Bool {
        guard let size, bytesDurable == size, url == spec.url, !validators.isEncoded else { return false }
        return spec.refusal(ofSize: size) == nil
    }
}

extension Job {
    /// Why a job without a part has lost its earlier bytes; nil when it had none.
    fileprivate var lossBefore: ResumeOutcome.RestartReason? {
        if hasSyncFailed { return .syncFailed }
        guard isPartLost else { return nil }
        // The pieces did not match the digest, so the part's validators cannot be trusted.
        return isDisproved ? .noValidator : .partMissing
    }
}
