import CCrypto

/// The keys of a store. One of them seals, and each of them opens what it has sealed.
public struct Keyring: Sendable {
    /// The key that seals.
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

    /// The result of opening a sealed value.
    public enum Opened: Sendable, Equatable {
        case text(String)
        /// The value was sealed with a key that is not in the ring.
        case keyMissing
        /// The value was changed or moved, or it is no sealed value.
        case refused
    }

    /// Seals a text for its place.
    public func seal(_ text: String, at place: SealedPlace) -> String {
        let nonce = AES256GCM.makeNonce()
        let box = AES256GCM.seal(Array(text.utf8), nonce: nonce, authenticating: place.bytes, with: current)
        return SealedText(keyID: current.id, nonce: nonce, box: box).text
    }

    public func open(_ sealed: some StringProtocol, at place: SealedPlace) -> Opened {
        guard let sealed = SealedText(sealed) else { return .refused }
        guard let key = keys[sealed.keyID] else { return .keyMissing }
        let text = AES256GCM.open(sealed.box, nonce: sealed.nonce, authenticating: place.bytes, with: key)
        return text.map { .text(String(decoding: $0, as: UTF8.self)) } ?? .refused
    }
}

/// Where a sealed value is stored. The place is authenticated together with the value, so a sealed value that is copied
/// to another row, column or table cannot be opened there.
public struct SealedPlace: Sendable, Equatable {
    public var table: String
    public var column: String
    /// The identifier of the row.
    public var row: String

    public init(table: String, column: String, row: String) {
        self.table = table
        self.column = column
        self.row = row
    }

    var bytes: [UInt8] { Array("fetchd 1\0\(table)\0\(column)\0\(row)".utf8) }
}

extension SealedPlace: CustomStringConvertible {
    public var description: String { "\(table).\(column) of \(row)" }
}

/// The text form of a sealed value: `sealed:1:KEY:BASE64`. `1` is the version of the form, KEY is the identifier of the
/// key, and BASE64 has the nonce, the encrypted text and the tag.
struct SealedText {
    var keyID: String
    var nonce: [UInt8]
    /// The encrypted text and the tag.
    var box: [UInt8]

    private static let prefix = "sealed:1:"

    init(keyID: String, nonce: [UInt8], box: [UInt8]) {
        self.keyID = keyID
        self.nonce = nonce
        self.box = box
    }

    /// nil for any other text.
    init?(_ text: some StringProtocol) {
        guard text.hasPrefix(Self.prefix) else { return nil }
        let parts = text.utf8.dropFirst(Self.prefix.utf8.count).split(
            separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let bytes = Self.decoded(Array(parts[1])), bytes.count >= AES256GCM.nonceLength else {
            return nil
        }
        keyID = String(decoding: parts[0], as: UTF8.self)
        nonce = Array(bytes.prefix(AES256GCM.nonceLength))
        box = Array(bytes.dropFirst(AES256GCM.nonceLength))
    }

    var text: String { "\(Self.prefix)\(keyID):\(Self.encoded(nonce + box))" }

    private static func encoded(_ bytes: [UInt8]) -> String {
        // The function ends the text with a NUL.
        let length = (bytes.count + 2) / 3 * 4
        return String(
            decoding: [UInt8](unsafeUninitializedCapacity: length + 1) { buffer, count in
                EVP_EncodeBlock(buffer.baseAddress, bytes, Int32(bytes.count))
                count = length
            }, as: UTF8.self)
    }

    private static func decoded(_ text: [UInt8]) -> [UInt8]? {
        guard !text.isEmpty, text.count % 4 == 0 else { return nil }
        let padding = text.suffix(2).count { $0 == UInt8(ascii: "=") }
        var isValid = false
        let bytes = [UInt8](unsafeUninitializedCapacity: text.count / 4 * 3) { buffer, count in
            let length = Int(EVP_DecodeBlock(buffer.baseAddress, text, Int32(text.count)))
            isValid = length == text.count / 4 * 3
            count = isValid ? length - padding : 0
        }
        return isValid ? bytes : nil
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
    static func seal(
        _ text: [UInt8], nonce: [UInt8], authenticating data: [UInt8], with key: SealingKey
    ) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: text.count + tagLength) { buffer, count in
            let output = buffer.baseAddress
            let isSealed = withContext { context in
                var (length, last): (Int32, Int32) = (0, 0)
                return key.withBytes { EVP_EncryptInit_ex2(context, cipher, $0, nonce, nil) } == 1
                    && EVP_EncryptUpdate(context, nil, &length, data, Int32(data.count)) == 1
                    && EVP_EncryptUpdate(context, output, &length, text, Int32(text.count)) == 1
                    && EVP_EncryptFinal_ex(context, output.map { $0 + Int(length) }, &last) == 1
                    && EVP_CIPHER_CTX_ctrl(
                        context, EVP_CTRL_AEAD_GET_TAG, Int32(tagLength), output.map { $0 + text.count }) == 1
            }
            precondition(isSealed, "libcrypto could not encrypt a text")
            count = text.count + tagLength
        }
    }

    /// - Parameter sealed: the result of `seal`.
    /// - Returns: nil unless text, nonce, data and key are those of `seal`.
    static func open(
        _ sealed: [UInt8], nonce: [UInt8], authenticating data: [UInt8], with key: SealingKey
    ) -> [UInt8]? {
        guard sealed.count >= tagLength, nonce.count == nonceLength else { return nil }
        let textLength = sealed.count - tagLength
        var isOpened = false
        let text = [UInt8](unsafeUninitializedCapacity: sealed.count) { buffer, count in
            let output = buffer.baseAddress
            var tag = Array(sealed[textLength...])
            isOpened = withContext { context in
                var (length, last): (Int32, Int32) = (0, 0)
                return key.withBytes { EVP_DecryptInit_ex2(context, cipher, $0, nonce, nil) } == 1
                    && EVP_DecryptUpdate(context, nil, &length, data, Int32(data.count)) == 1
                    && EVP_DecryptUpdate(context, output, &length, sealed, Int32(textLength)) == 1
                    && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tagLength), &tag) == 1
                    && EVP_DecryptFinal_ex(context, output.map { $0 + Int(length) }, &last) == 1
            }
            count = isOpened ? textLength : 0
        }
        return isOpened ? text : nil
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
