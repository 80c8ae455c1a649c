import Base
import Downloads
import Formats

/// The signature of a text, as minisign or signify writes it to a file of its own.
///
///     untrusted comment: any text
///     base64 of: "Ed" or "ED", eight bytes that identify the key, and 64 bytes of Ed25519
///     trusted comment: any text           (minisign)
///     base64 of 64 bytes of Ed25519       (minisign)
///
/// `ED` signs the BLAKE2b-512 of the text, and `Ed` the text itself. The last line of minisign signs the signature with the trusted
/// comment (jedisct1.github.io/minisign, "Signature format"). signify knows `Ed` only. A file that encloses the signed text after
/// its two lines (`signify -e`) is read likewise.
struct DetachedSignature: Sendable, Equatable {
    private let kind: ChecksumSignature.Kind
    private let isPrehashed: Bool
    private let keyID: [UInt8]
    private let bytes: [UInt8]
    /// Without the words `trusted comment: `.
    let trustedComment: String?
    private let commentSignature: [UInt8]

    enum Fault: Error, Equatable {
        case malformed
        /// The signature is that of another key.
        case unknownKey(id: String)
        /// The key is one of those given, and has not signed this text.
        case wrong
    }

    init(_ file: [UInt8], kind: ChecksumSignature.Kind) throws(Fault) {
        let lines = file.split(separator: 0x0A, maxSplits: 4, omittingEmptySubsequences: false).map { line in
            String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
        }
        guard lines.count >= 2, lines[0].hasPrefix("untrusted comment:"), let packet = [UInt8](base64: lines[1]),
            packet.count == 74
        else { throw .malformed }
        let algorithm = String(decoding: packet[..<2], as: UTF8.self)
        guard algorithm == "Ed" || algorithm == "ED" && kind == .minisign else { throw .malformed }
        self.kind = kind
        isPrehashed = algorithm == "ED"
        keyID = Array(packet[2..<10])
        bytes = Array(packet[10...])
        guard kind == .minisign else {
            (trustedComment, commentSignature) = (nil, [])
            return
        }
        let mark = "trusted comment: "
        guard lines.count >= 4, lines[2].hasPrefix(mark), let signature = [UInt8](base64: lines[3]),
            signature.count == 64
        else { throw .malformed }
        (trustedComment, commentSignature) = (String(lines[2].dropFirst(mark.count)), signature)
    }

    /// The key that has signed the text.
    ///
    /// - Parameter keys: several can have one identification, because it is a random number that anyone can copy.
    func verify(_ text: [UInt8], keys: [String]) throws(Fault) -> String {
        let message = isPrehashed ? HashFunction.blake2b.hash(text) : text
        let candidates = keys.compactMap { line in SignatureKey(base64: line).map { (line: line, key: $0) } }
            .filter { $0.key.id == keyID }
        // minisign shows the identification as a number, whose bytes are stored with the lowest first.
        guard !candidates.isEmpty else { throw .unknownKey(id: Array(keyID.reversed()).hexadecimal.uppercased()) }
        let signer = candidates.first { _, key in
            VerifyingKey.verifies(bytes, of: message, by: key.bytes)
                && (kind == .signify
                    || VerifyingKey.verifies(commentSignature, of: bytes + commentBytes, by: key.bytes))
        }
        guard let signer else { throw .wrong }
        return signer.line
    }

    private var commentBytes: [UInt8] { Array((trustedComment ?? "").utf8) }
}
