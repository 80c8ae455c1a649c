import Downloads
import Foundation
import HTTPSemantics

/// The digests that the bytes of an attempt must have.
extension Attempt {
    var listed: ListedChecksum? { state.withLock { $0.listed } }

    /// The label of a response, with the digests that other servers of the job have stated for the same version. A checksum of the job
    /// is stronger than those: it also verifies bytes of servers that have other versions by their tags.
    func completed(_ label: FileLabel, validators: Validators, size: Int64?) -> FileLabel {
        guard spec.checksum == nil else { return listing(label) }
        return listing(label).completed(by: job.stated, validators: validators, size: size)
    }

    /// The label with the digest of the list, in place of the one that an earlier attempt has read.
    func listing(_ label: FileLabel) -> FileLabel {
        var label = label
        label.digests.removeAll { $0.claimant == .checksumFile }
        if let listed { label.digests.insert(DigestClaim(.checksumFile, listed.checksum), at: 0) }
        return label
    }
}

/// What follows if the complete file does not have them.
extension Attempt {
    /// Whether all bytes are on the disk, or all digests of the job were computed before they were given back. Pieces are verified on
    /// the disk only.
    func canVerify(_ staging: ObjectStaging) -> Bool {
        guard let staged = staging.object, let label = file?.label else { return staging.released == 0 }
        return spec.algorithms(label).isSubset(of: staged.digests.keys) && (spec.pieces == nil || spec.checksum != nil)
    }

    /// - Parameter digests: of the whole file; nil if the attempt stops.
    /// - Returns: nil if the bytes match all digests.
    func refutation(
        of complete: CompleteFile, by digests: [Checksum.Algorithm: String]?
    ) async throws -> (failure: Failure, hint: RetryPolicy.Hint)? {
        var mismatch =
            digests.flatMap { spec.claims(complete.file.label).refutation(by: $0) }
            ?? complete.file.decoding?.refutation
        if mismatch == nil, spec.checksum == nil { mismatch = try await refutationByPieces(of: complete) }
        guard let mismatch else { return nil }
        let keepsRightPieces = try await keepsRightPieces(of: complete)
        await suspect(complete.file.mirrors(of: keepsRightPieces ? state.withLock(\.wrongPieces) : nil), mismatch)
        if keepsRightPieces { return (mismatch, RetryPolicy.Hint(mayRestart: true)) }
        let mayRestart = if mayRestart { true } else { await hasListChanged() }
        return (mismatch, RetryPolicy.Hint(mayRestart: mayRestart))
    }

    /// The failure of a file whose pieces are the only digests of the job; nil if they match, or if there are none.
    private func refutationByPieces(of complete: CompleteFile) async throws -> Failure? {
        guard let pieces = spec.pieces, complete.file.decoding == nil else { return nil }
        guard pieces.fit(complete.size) else {
            return Failure(
                .checksumMismatch,
                "The file has \(complete.size) bytes, which are not the \(pieces.count) pieces of the job.")
        }
        let wrong = try await wrongPieces(of: complete)
        guard let first = wrong.first else { return nil }
        return Failure(
            .checksumMismatch,
            "\(wrong.count) of \(pieces.count) pieces do not match; the first one begins at \(first.lowerBound).")
    }

    private func wrongPieces(of complete: CompleteFile) async throws -> [Range<Int64>] {
        let part = complete.file.part
        guard let pieces = spec.pieces, pieces.fit(complete.size), complete.file.decoding == nil else { return [] }
        return try await part.diskQueue.run { [control] in
            try part.wrongPieces(pieces, isStopped: { control.isStopping }) ?? []
        }
    }

    /// Whether some pieces match their digests, so that only the others are fetched again. Once for each URL.
    private func keepsRightPieces(of complete: CompleteFile) async throws -> Bool {
        let wrong = job.isCorrupt ? [] : try await wrongPieces(of: complete)
        guard !wrong.isEmpty, wrong.count < spec.pieces?.count ?? 0 else { return false }
        services.log.warning(
            "\(wrong.count) pieces of \(job.id) do not match their digests. They are fetched again.",
            metadata: logFields)
        state.withLock { $0.wrongPieces = wrong }
        return true
    }

    /// Whether the job fetches the file once more after its bytes proved wrong. True when bytes of an earlier attempt,
    /// or of another connection, may be the cause.
    private var mayRestart: Bool {
        guard let file, !job.isCorrupt else { return false }
        return file.outcome.isResumed || file.isShared
    }

    /// Whether the list has another digest by now. Asked when the bytes do not match a list that was fetched for other jobs.
    private func hasListChanged() async -> Bool {
        let (listed, isShared) = state.withLock { ($0.listed, $0.isListShared) }
        guard isShared, let file = spec.checksum?.file,
            case .listed(let now, _) = await readChecksum(in: file, mayShare: false)
        else { return false }
        return now.checksum != listed?.checksum
    }
}
