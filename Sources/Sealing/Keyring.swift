import CCrypto
import Foundation

/// The keys of a store. One of them seals, and each of them opens what it has sealed.
public struct Keyring: Sendable {
    public let current: SealingKey
    private let keys: [String: SealingKey]

    /// - Parameter others: keys that only open. A key file has two keys while a rotation is under way.
    public init(current: SealingKey, others: [SealingKey] = []) {
        self.current = current
        keys = (others + [current]).reduce(into: [:]) { $0[$1.id] = $1 }
    }

    /// The same keys, with another one that seals.
    public func sealing(with key: SealingKey) -> Keyring { Keyring(current: key, others: all) }

    /// All keys, the current one first.
    public var all: [SealingKey] { [current] + keys.values.filter { $0.id != current.id }.sorted { $0.id < $1.id } }

    public enum Opened: Sendable, Equatable {
        case text(String)
        /// The value was sealed with a key that is not in the ring.
        case keyMissing
        /// The value was changed or moved, or it is no sealed value.
        case refused
    }

    public func seal(_ text: String, at place: SealContext) -> String {
        let nonce = AES256GCM.makeNonce()
        let box = AES256GCM.seal(Array(text.utf8), nonce: nonce, authenticating: place.bytes, with: current)
        return SealedText(keyID: current.id, nonce: nonce, box: box).text
    }

    public func open(_ sealed: some StringProtocol, at place: SealContext) -> Opened {
        guard let sealed = SealedText(sealed) else { return .refused }
        guard let key = keys[sealed.keyID] else { return .keyMissing }
        let text = AES256GCM.open(sealed.box, nonce: sealed.nonce, authenticating: place.bytes, with: key)
        return text.map { .text(String(decoding: $0, as: UTF8.self)) } ?? .refused
    }
}

extension Keyring {
    /// - Returns: the nonce, the encrypted bytes and the tag.
    public func seal(_ bytes: [UInt8], at place: SealContext) -> [UInt8] {
        let nonce = AES256GCM.makeNonce()
        return nonce + AES256GCM.seal(bytes, nonce: nonce, authenticating: place.bytes, with: current)
    }

    /// - Parameter key: the identifier of the key that has sealed the bytes.
    /// - Returns: nil if the key is not in the ring, or if the bytes were changed or moved.
    public func open(_ sealed: [UInt8], of key: String, at place: SealContext) -> [UInt8]? {
        guard let key = keys[key], sealed.count >= AES256GCM.nonceLength else { return nil }
        return AES256GCM.open(
            Array(sealed.dropFirst(AES256GCM.nonceLength)), nonce: Array(sealed.prefix(AES256GCM.nonceLength)),
            authenticating: place.bytes, with: key)
    }
}

/// Where a sealed value is stored. The place is authenticated together with the value, so a sealed value that is copied
/// to another row, column or table cannot be opened there.
public struct SealContext: Sendable, CustomStringConvertible {
    public var table: String
    public var column: String
    public var row: String

    public init(table: String, column: String, row: String) {
        self.table = table
        self.column = column
        self.row = row
    }

    public var description: String { "\(table).\(column) of \(row)" }
    var bytes: [UInt8] { Array("fetchd 1\0\(table)\0\(column)\0\(row)".utf8) }
}

/// The text form of a sealed value: `sealed:1:KEY:BASE64`. `1` is the version of the form, KEY is the identifier of the
/// key, and BASE64 has the nonce, the encrypted text and the tag.
struct SealedText {
    var keyID: String
    var nonce: [UInt8]
    /// The encrypted text and the tag.
    var box: [UInt8]

    fileprivate static let prefix = "sealed:1:"
    var text: String { "\(Self.prefix)\(keyID):\(Data(nonce + box).base64EncodedString())" }
}

extension SealedText {
    /// nil for any other text.
    init?(_ text: some StringProtocol) {
        guard text.hasPrefix(Self.prefix) else { return nil }
        let parts = text.utf8.dropFirst(Self.prefix.utf8.count).split(
            separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let bytes = Data(base64Encoded: Data(parts[1])), bytes.count >= AES256GCM.nonceLength
        else { return nil }
        keyID = String(decoding: parts[0], as: UTF8.self)
        nonce = Array(bytes.prefix(AES256GCM.nonceLength))
        box = Array(bytes.dropFirst(AES256GCM.nonceLength))
    }
}

/// AES-256 in Galois/Counter Mode (NIST SP 800-38D): it encrypts a text, and detects every change of the text or of the
/// data that belongs to it.
enum AES256GCM {
    static let nonceLength = 12
    static let tagLength = 16

    /// A random nonce of 96 bits. With random nonces, one key may seal 2^32 values (SP 800-38D, section 8.3).
    static func makeNonce() -> [UInt8] {
        var nonce = [UInt8](repeating: 0, count: nonceLength)
        precondition(RAND_bytes(&nonce, Int32(nonce.count)) == 1, "libcrypto has no random numbers")
        return nonce
    }

    /// - Returns: the encrypted text and the tag.
    static func seal(_ text: [UInt8], nonce: [UInt8], authenticating data: [UInt8], with key: SealingKey) -> [UInt8] {
        var tag = [UInt8](repeating: 0, count: tagLength)
        let sealed = run(text[...], isSealing: true, &tag, nonce, data, key)
        guard let sealed else { preconditionFailure("libcrypto could not encrypt a text") }
        return sealed + tag
    }

    /// - Parameter sealed: the result of `seal`.
    /// - Returns: nil unless text, nonce, data and key are those of `seal`.
    static func open(
        _ sealed: [UInt8], nonce: [UInt8], authenticating data: [UInt8], with key: SealingKey
    ) -> [UInt8]? {
        guard sealed.count >= tagLength, nonce.count == nonceLength else { return nil }
        var tag = Array(sealed.suffix(tagLength))
        return run(sealed.dropLast(tagLength), isSealing: false, &tag, nonce, data, key)
    }

    /// - Parameter tag: is set by sealing, and compared by opening.
    private static func run(
        _ input: ArraySlice<UInt8>, isSealing: Bool, _ tag: inout [UInt8], _ nonce: [UInt8], _ data: [UInt8],
        _ key: SealingKey
    ) -> [UInt8]? {
        var isDone = false
        let input = Array(input)
        let result = [UInt8](unsafeUninitializedCapacity: input.count + tagLength) { buffer, count in
            let output = buffer.baseAddress
            isDone = withContext { context in
                var (length, last): (Int32, Int32) = (0, 0)
                let (get, set) = (EVP_CTRL_AEAD_GET_TAG, EVP_CTRL_AEAD_SET_TAG)
                return key.withBytes { EVP_CipherInit_ex2(context, cipher, $0, nonce, isSealing ? 1 : 0, nil) } == 1
                    && EVP_CipherUpdate(context, nil, &length, data, Int32(data.count)) == 1
                    && EVP_CipherUpdate(context, output, &length, input, Int32(input.count)) == 1
                    && (isSealing || EVP_CIPHER_CTX_ctrl(context, set, Int32(tagLength), &tag) == 1)
                    && EVP_CipherFinal_ex(context, output.map { $0 + Int(length) }, &last) == 1
                    && (!isSealing || EVP_CIPHER_CTX_ctrl(context, get, Int32(tagLength), &tag) == 1)
            }
            count = isDone ? input.count : 0
        }
        return isDone ? result : nil
    }

    private static func withContext<Result>(_ body: (OpaquePointer) -> Result) -> Result {
        guard let context = EVP_CIPHER_CTX_new() else { preconditionFailure("libcrypto has no memory") }
        // Also overwrites the key schedule.
        defer { EVP_CIPHER_CTX_free(context) }
        return body(context)
    }

    /// Looked up once, because a lookup takes longer than the encryption of a short text.
    nonisolated(unsafe) private static let cipher: OpaquePointer = {
        guard let cipher = EVP_CIPHER_fetch(nil, "AES-256-GCM", nil) else {
            preconditionFailure("libcrypto has no AES-256-GCM")
        }
        return cipher
    }()
}
