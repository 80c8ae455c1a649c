import HTTPSemantics
import Hashing

/// The digests of bytes that arrive in order, computed in one pass. Only the requested algorithms are computed.
struct RunningDigests: Sendable {
    private var hashes: [Checksum.Algorithm: RunningHash]

    init(_ algorithms: Set<Checksum.Algorithm>) {
        hashes = Dictionary(uniqueKeysWithValues: algorithms.map { ($0, RunningHash($0.function)) })
    }

    var algorithms: Set<Checksum.Algorithm> { Set(hashes.keys) }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        for algorithm in hashes.keys { hashes[algorithm]?.update(bytes) }
    }

    /// Lowercase hexadecimal digests of the bytes so far.
    func finalize() -> [Checksum.Algorithm: String] { hashes.mapValues(\.digest.hexadecimal) }
}

extension Checksum.Algorithm {
    fileprivate var function: HashFunction {
        switch self {
        case .sha256: .sha256
        case .sha512: .sha512
        case .sha1: .sha1
        case .md5: .md5
        }
    }
}
