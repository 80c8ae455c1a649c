import Crypto
import HTTPSemantics

/// The digests of bytes that come in order, all in one pass over them. What nobody wants is not computed.
struct RunningDigests: Sendable {
    let algorithms: Set<Checksum.Algorithm>
    private var sha256: SHA256?
    private var sha512: SHA512?
    private var sha1: Insecure.SHA1?
    private var md5: Insecure.MD5?

    init(_ algorithms: Set<Checksum.Algorithm>) {
        self.algorithms = algorithms
        if algorithms.contains(.sha256) { sha256 = SHA256() }
        if algorithms.contains(.sha512) { sha512 = SHA512() }
        if algorithms.contains(.sha1) { sha1 = Insecure.SHA1() }
        if algorithms.contains(.md5) { md5 = Insecure.MD5() }
    }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        sha256?.update(bufferPointer: bytes)
        sha512?.update(bufferPointer: bytes)
        sha1?.update(bufferPointer: bytes)
        md5?.update(bufferPointer: bytes)
    }

    /// Lowercase hexadecimal, of the bytes so far.
    func finalize() -> [Checksum.Algorithm: String] {
        var digests: [Checksum.Algorithm: String] = [:]
        digests[.sha256] = sha256.map { Checksum.hexadecimal($0.finalize()) }
        digests[.sha512] = sha512.map { Checksum.hexadecimal($0.finalize()) }
        digests[.sha1] = sha1.map { Checksum.hexadecimal($0.finalize()) }
        digests[.md5] = md5.map { Checksum.hexadecimal($0.finalize()) }
        return digests
    }
}
