import Base
import Downloads
import HTTPSemantics

/// Decodes the coded body of one response, and describes the bytes as they were received. The part's disk queue calls it, in
/// the order of the bytes.
final class BodyDecoding: Sendable {
    let coding: String
    /// The server's digests, which are digests of the coded bytes (RFC 9530, section 3).
    let claims: [DigestClaim]
    private let state: Locked<State>

    private struct State {
        let decoder: InflatingDecoder
        var digests: RunningDigests
        var size: Int64 = 0
    }

    /// - Returns: nil if the coding cannot be decoded.
    init?(_ coding: String, claims: [DigestClaim], digest: Digest) {
        guard let known = ContentCoding(coding) else { return nil }
        self.coding = coding
        self.claims = claims
        let algorithms = Set(claims.map(\.checksum.algorithm)).union(digest == .sha256 ? [.sha256] : [])
        state = Locked(State(decoder: InflatingDecoder(known), digests: RunningDigests(algorithms)))
    }

    /// - Parameter take: takes the decoded bytes in order; returns false to stop.
    func decode(_ bytes: UnsafeRawBufferPointer, _ take: (UnsafeRawBufferPointer) -> Bool) throws(InflationError) {
        try state.withLock { state throws(InflationError) in
            state.size += Int64(bytes.count)
            state.digests.update(bytes)
            try state.decoder.decode(bytes, take)
        }
    }

    func finish() throws(InflationError) {
        try state.withLock { state throws(InflationError) in try state.decoder.finish() }
    }

    func received(_ digest: Digest) -> Receipt.Coding {
        let (size, digests) = state.withLock { ($0.size, $0.digests.finalize()) }
        return Receipt.Coding(
            name: coding, isDecoded: true, size: size, sha256: digest == .sha256 ? digests[.sha256] : nil)
    }

    /// The failure of the first digest of the server that the coded bytes do not match; nil if they match all.
    var refutation: Failure? { claims.refutation(by: state.withLock { $0.digests.finalize() }) }
}

extension InflationError {
    func failure(decoding coding: String) -> Failure {
        switch self {
        case .incomplete: Failure(.truncated, "The \(coding) body ended before the end of its content.")
        case .invalid(let why): Failure(.checksumMismatch, "The body is no valid \(coding): \(why).")
        }
    }
}
