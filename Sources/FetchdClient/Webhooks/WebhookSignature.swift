import Foundation

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
