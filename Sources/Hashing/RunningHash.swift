import CCrypto

/// The incremental digest of bytes. A copy continues independently.
public struct RunningHash: Sendable {
    private var context: Context

    public init(_ function: HashFunction) {
        context = Context()
        check(EVP_DigestInit_ex2(context.pointer, function.implementation, nil))
    }

    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        if !isKnownUniquelyReferenced(&context) { context = context.copy() }
        check(EVP_DigestUpdate(context.pointer, bytes.baseAddress, bytes.count))
    }

    /// The digest of the bytes so far. More bytes can follow.
    public var digest: [UInt8] {
        let last = context.copy()
        return [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { buffer, count in
            var length: UInt32 = 0
            check(EVP_DigestFinal_ex(last.pointer, buffer.baseAddress, &length))
            count = Int(length)
        }
    }
}

/// Owns an `EVP_MD_CTX`. It is changed only while one value refers to it.
private final class Context: @unchecked Sendable {
    let pointer: OpaquePointer

    init() {
        guard let pointer = EVP_MD_CTX_new() else { preconditionFailure("libcrypto has no memory") }
        self.pointer = pointer
    }

    deinit { EVP_MD_CTX_free(pointer) }

    func copy() -> Context {
        let copy = Context()
        check(EVP_MD_CTX_copy_ex(copy.pointer, pointer))
        return copy
    }
}

/// These calls fail only if memory is exhausted.
private func check(_ result: Int32) {
    precondition(result == 1, "libcrypto could not compute a digest")
}
