import Foundation

#if canImport(CryptoKit)
import CryptoKit
#endif

/// Verifies webhooks of fetchd, or of any other sender that follows Standard Webhooks 1.0.0. It needs no web framework.
///
/// ```swift
/// try WebhookSignature.verify(body, headers: headers, secrets: [secret])
/// ```
///
/// Verify the bytes of the body as they arrived, before you parse them. An accepted request can still be a repetition: store
/// the `webhook-id` of the requests that you have processed.
public enum WebhookSignature {
    /// Why a request was not accepted. Answer it with 401.
    public enum Failure: Error, Sendable, Equatable {
        /// A `webhook-` header is missing or malformed.
        case missingHeader(String)
        /// The timestamp is too far from the clock of this machine. The request may be an old one that an attacker repeats.
        case wrongTime
        /// No signature matches a secret.
        case wrongSignature
        /// A secret is not `whsec_` and base64 of 24 to 64 bytes.
        case invalidSecret
    }

    /// The time by which the timestamp may differ from the clock, in seconds.
    public static let tolerance: TimeInterval = 300

    /// Verifies a request.
    ///
    /// - Parameters:
    ///   - body: the bytes as they arrived.
    ///   - headers: those of the request, with names in upper or lower case.
    ///   - secrets: all that are valid now. During a rotation, these can be the old and the new one.
    ///   - tolerance: in seconds, 0 or more.
    ///   - now: the time to compare the timestamp with.
    public static func verify(
        _ body: some Sequence<UInt8>, headers: [String: String], secrets: [String],
        tolerance: TimeInterval = tolerance, now: Date = Date()
    ) throws(Failure) {
        func value(_ name: String) throws(Failure) -> String {
            guard let header = headers.first(where: { $0.key.lowercased() == name }) else { throw .missingHeader(name) }
            return header.value
        }
        try verify(
            body, id: value("webhook-id"), timestamp: value("webhook-timestamp"), signature: value("webhook-signature"),
            secrets: secrets, tolerance: tolerance, now: now)
    }

    /// Verifies a request whose headers the caller has found.
    ///
    /// - Parameters:
    ///   - body: the bytes as they arrived.
    ///   - id: the header `webhook-id`.
    ///   - timestamp: the header `webhook-timestamp`, in seconds since 1970.
    ///   - signature: the header `webhook-signature`. It can have several signatures, one for each secret of the sender.
    ///   - secrets: all that are valid now.
    ///   - tolerance: in seconds, 0 or more.
    ///   - now: the time to compare the timestamp with.
    public static func verify(
        _ body: some Sequence<UInt8>, id: String, timestamp: String, signature: String, secrets: [String],
        tolerance: TimeInterval = tolerance, now: Date = Date()
    ) throws(Failure) {
        guard let seconds = Int64(timestamp) else { throw .missingHeader("webhook-timestamp") }
        guard abs(now.timeIntervalSince1970 - Double(seconds)) <= tolerance else { throw .wrongTime }
        var keys: [[UInt8]] = []
        for secret in secrets { keys.append(try key(secret)) }
        let message = Array("\(id).\(timestamp).".utf8) + body
        let expected = keys.map { HMACSHA256.code(of: message, key: $0) }
        // Compare everything with everything, so that the time does not depend on what matches.
        var isAccepted = false
        for given in signatures(in: signature) {
            for code in expected where areEqual(given, code) { isAccepted = true }
        }
        guard isAccepted else { throw .wrongSignature }
    }

    private static func key(_ secret: String) throws(Failure) -> [UInt8] {
        let text = secret.hasPrefix("whsec_") ? String(secret.dropFirst(6)) : secret
        guard let bytes = Data(base64Encoded: text), (24...64).contains(bytes.count) else { throw .invalidSecret }
        return Array(bytes)
    }

    /// The symmetric signatures (`v1`) of the header. Other versions are ignored.
    private static func signatures(in header: String) -> [[UInt8]] {
        header.split(separator: " ").compactMap { part in
            part.hasPrefix("v1,") ? Data(base64Encoded: String(part.dropFirst(3))).map(Array.init) : nil
        }
    }

    /// Takes the same time for all contents of the same length.
    private static func areEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        guard one.count == other.count else { return false }
        return zip(one, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

/// HMAC with SHA-256 (RFC 2104).
enum HMACSHA256 {
    static func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        #if canImport(CryptoKit)
        Array(HMAC<CryptoKit.SHA256>.authenticationCode(for: message, using: SymmetricKey(data: key)))
        #else
        portableCode(of: message, key: key)
        #endif
    }

    /// Without a library, for systems without CryptoKit.
    static func portableCode(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        let short = key.count > PortableSHA256.blockSize ? PortableSHA256.digest(of: key) : key
        let block = short + Array(repeating: 0, count: PortableSHA256.blockSize - short.count)
        let inner = PortableSHA256.digest(of: block.map { $0 ^ 0x36 } + message)
        return PortableSHA256.digest(of: block.map { $0 ^ 0x5C } + inner)
    }
}

/// SHA-256 (FIPS 180-4). It is for short messages: a dependency for them would be large.
enum PortableSHA256 {
    static let blockSize = 64

    static func digest(of message: [UInt8]) -> [UInt8] {
        var state = initialState
        let padded = padded(message)
        for start in stride(from: 0, to: padded.count, by: blockSize) {
            compress(padded[start..<start + blockSize], into: &state)
        }
        return state.flatMap(bigEndian)
    }

    /// A one bit, zeros, and the length in bits.
    private static func padded(_ message: [UInt8]) -> [UInt8] {
        let zeros = (blockSize - (message.count + 9) % blockSize) % blockSize
        return message + [0x80] + Array(repeating: 0, count: zeros) + bigEndian(UInt64(message.count) * 8)
    }

    private static func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian, Array.init)
    }

    private static func compress(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
        var w = words(of: block)
        for t in 16..<64 {
            let (a, b) = (w[t - 15], w[t - 2])
            let s0 = rotated(a, 7) ^ rotated(a, 18) ^ (a >> 3)
            let s1 = rotated(b, 17) ^ rotated(b, 19) ^ (b >> 10)
            w.append(w[t - 16] &+ s0 &+ w[t - 7] &+ s1)
        }
        var v = state
        for t in 0..<64 {
            let s1 = rotated(v[4], 6) ^ rotated(v[4], 11) ^ rotated(v[4], 25)
            let choice = (v[4] & v[5]) ^ (~v[4] & v[6])
            let t1 = v[7] &+ s1 &+ choice &+ constants[t] &+ w[t]
            let s0 = rotated(v[0], 2) ^ rotated(v[0], 13) ^ rotated(v[0], 22)
            let majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2])
            v = [t1 &+ s0 &+ majority, v[0], v[1], v[2], v[3] &+ t1, v[4], v[5], v[6]]
        }
        for i in state.indices { state[i] &+= v[i] }
    }

    private static func words(of block: ArraySlice<UInt8>) -> [UInt32] {
        stride(from: block.startIndex, to: block.endIndex, by: 4).map { start in
            block[start..<start + 4].reduce(0) { $0 << 8 | UInt32($1) }
        }
    }

    private static func rotated(_ value: UInt32, _ count: UInt32) -> UInt32 { value >> count | value << (32 - count) }

    private static let initialState: [UInt32] = [
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
    ]

    private static let constants: [UInt32] = [
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
        0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
        0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
        0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
        0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
        0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
        0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
    ]
}
