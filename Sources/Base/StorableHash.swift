import CCrypto
import Formats

/// A digest whose state can be stored, so that another process continues after the last byte.
///
/// libcrypto 3 cannot export the state of `RunningHash`. These are its older functions, whose states are plain structures.
public struct StorableHash: Sendable, Equatable {
    /// The raw value is the first byte of a stored state.
    public enum Function: UInt8, Sendable, CaseIterable {
        case sha256 = 1, sha512, sha1, md5

        /// Of the state, after which the structure has the count of bits in two words, a block of 16 words, and the number of bytes in it.
        fileprivate var words: Int {
            switch self {
            case .sha256, .sha512: 8
            case .sha1: 5
            case .md5: 4
            }
        }

        /// In bytes.
        fileprivate var word: Int { self == .sha512 ? 8 : 4 }
        fileprivate var block: Int { 16 * word }
        fileprivate var blockOffset: Int { (words + 2) * word }
        fileprivate var digestLength: Int { self == .sha512 ? 64 : words * word }
    }

    public let function: Function
    /// The number of bytes so far.
    public private(set) var count: UInt64 = 0
    /// The structure of libcrypto. The largest one, `SHA512_CTX`, has 216 bytes.
    private var context = [UInt64](repeating: 0, count: 27)

    public init(_ function: Function) {
        self.function = function
        withContext { context in
            switch function {
            case .sha256: SHA256_Init(context.assumingMemoryBound(to: SHA256_CTX.self))
            case .sha512: SHA512_Init(context.assumingMemoryBound(to: SHA512_CTX.self))
            case .sha1: SHA1_Init(context.assumingMemoryBound(to: SHA_CTX.self))
            case .md5: MD5_Init(context.assumingMemoryBound(to: MD5_CTX.self))
            }
        }
    }

    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        let function = function
        withContext { context in
            switch function {
            case .sha256:
                SHA256_Update(context.assumingMemoryBound(to: SHA256_CTX.self), bytes.baseAddress, bytes.count)
            case .sha512:
                SHA512_Update(context.assumingMemoryBound(to: SHA512_CTX.self), bytes.baseAddress, bytes.count)
            case .sha1: SHA1_Update(context.assumingMemoryBound(to: SHA_CTX.self), bytes.baseAddress, bytes.count)
            case .md5: MD5_Update(context.assumingMemoryBound(to: MD5_CTX.self), bytes.baseAddress, bytes.count)
            }
        }
        count += UInt64(bytes.count)
    }

    /// The digest of the bytes so far. More bytes can follow.
    public var digest: [UInt8] {
        var (last, digest) = (self, [UInt8](repeating: 0, count: function.digestLength))
        last.withContext { context in
            switch function {
            case .sha256: SHA256_Final(&digest, context.assumingMemoryBound(to: SHA256_CTX.self))
            case .sha512: SHA512_Final(&digest, context.assumingMemoryBound(to: SHA512_CTX.self))
            case .sha1: SHA1_Final(&digest, context.assumingMemoryBound(to: SHA_CTX.self))
            case .md5: MD5_Final(&digest, context.assumingMemoryBound(to: MD5_CTX.self))
            }
        }
        return digest
    }

    /// - Parameter body: returns 1, as these functions always do.
    private mutating func withContext(_ body: (UnsafeMutableRawPointer) -> Int32) {
        let result = context.withUnsafeMutableBytes { body($0.baseAddress!) }
        precondition(result == 1, "libcrypto could not compute a digest")
    }
}

// MARK: - The stored state

extension StorableHash {
    /// One byte for the function, eight for the number of bytes, the words of the state (all with the most significant byte first), and
    /// the bytes of the last block that is not full. The same on every machine.
    public var stored: [UInt8] {
        let (words, word) = (function.words, function.word)
        let pending = Int(count % UInt64(function.block))
        return context.withUnsafeBytes { context in
            let state = (0..<words).flatMap { context[$0 * word..<($0 + 1) * word].inNetworkOrder }
            let block = context[function.blockOffset..<function.blockOffset + pending]
            return [function.rawValue] + count.bigEndianBytes + state + block
        }
    }

    /// - Returns: nil for bytes that `stored` never has.
    public init?(stored: [UInt8]) {
        guard let function = stored.first.flatMap(Function.init), stored.count >= 9 else { return nil }
        self.init(function)
        let (words, word) = (function.words, function.word)
        count = stored[1..<9].reduce(0) { $0 << 8 | UInt64($1) }
        let pending = Int(count % UInt64(function.block))
        // The functions count bits in 64 bits, and SHA-512 in 128.
        guard stored.count == 9 + words * word + pending, count < 1 << 61 else { return nil }
        let (bits, end) = (count << 3, 9 + words * word)
        context.withUnsafeMutableBytes { context in
            for index in 0..<words {
                let start = 9 + index * word
                UnsafeMutableRawBufferPointer(rebasing: context[index * word..<(index + 1) * word]).copyBytes(
                    from: stored[start..<start + word].inNetworkOrder)
            }
            let (low, high) = word == 8 ? (bits, 0) : (bits & 0xFFFF_FFFF, bits >> 32)
            context.store(low, words, word)
            context.store(high, words + 1, word)
            UnsafeMutableRawBufferPointer(rebasing: context[function.blockOffset...]).copyBytes(from: stored[end...])
            context.storeBytes(
                of: UInt32(pending), toByteOffset: function.blockOffset + function.block, as: UInt32.self)
        }
    }
}

/// The digest of a function of `HashFunction` whose state can be stored: all but BLAKE2b.
public struct StorableDigest: Sendable {
    private enum State: Sendable {
        case hash(StorableHash)
        case redundancy(CyclicRedundancy)
    }

    private var state: State

    /// - Parameter stored: what `stored` was when the first bytes had passed; nil: no byte so far.
    /// - Returns: nil for BLAKE2b, and for what `stored` never is.
    public init?(_ function: HashFunction, stored: [UInt8]? = nil) {
        if let polynomial = function.polynomial {
            guard stored?.count ?? 8 == 8 else { return nil }
            let state = stored?.reduce(0) { $0 << 8 | UInt64($1) }
            self.state = .redundancy(CyclicRedundancy(polynomial, state: state))
        } else {
            guard let function = StorableHash.Function(function) else { return nil }
            let hash = stored.map(StorableHash.init(stored:)) ?? StorableHash(function)
            guard let hash, hash.function == function else { return nil }
            state = .hash(hash)
        }
    }

    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        switch state {
        case .hash(var hash):
            hash.update(bytes)
            state = .hash(hash)
        case .redundancy(var check):
            check.update(bytes)
            state = .redundancy(check)
        }
    }

    /// The digest of the bytes so far. More bytes can follow.
    public var digest: [UInt8] {
        switch state {
        case .hash(let hash): hash.digest
        case .redundancy(let check): check.digest
        }
    }

    /// The same on every machine.
    public var stored: [UInt8] {
        switch state {
        case .hash(let hash): hash.stored
        case .redundancy(let check): check.state.bigEndianBytes
        }
    }
}

extension StorableHash.Function {
    /// - Returns: nil for a function whose state cannot be stored.
    fileprivate init?(_ function: HashFunction) {
        switch function {
        case .sha256: self = .sha256
        case .sha512: self = .sha512
        case .sha1: self = .sha1
        case .md5: self = .md5
        case .blake2b, .crc32, .crc32c, .crc64nvme: return nil
        }
    }
}

extension UnsafeMutableRawBufferPointer {
    fileprivate func store(_ value: UInt64, _ index: Int, _ word: Int) {
        if word == 8 {
            storeBytes(of: value, toByteOffset: index * 8, as: UInt64.self)
        } else {
            storeBytes(of: UInt32(value), toByteOffset: index * 4, as: UInt32.self)
        }
    }
}

extension Collection<UInt8> {
    /// The bytes of a word in the order of the machine, with the most significant one first, and the other way round.
    fileprivate var inNetworkOrder: [UInt8] { UInt16(1).bigEndian == 1 ? Array(self) : reversed() }
}

extension UInt64 {
    fileprivate var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian, Array.init) }
}
