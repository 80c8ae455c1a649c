import Base
import Formats
import Foundation
import Storage

/// Stands for a token in one request, for clients that cannot send `Authorization`: an `EventSource`, or a link to a file.
/// It may end up in a log with its URL, so it soon expires, and `UsedOneTimeTokens` refuses its second use.
///
/// Every node of a database accepts it, because all of them have the key of its code. Nothing in it reveals the token.
struct OneTimeToken: Sendable, Equatable {
    /// The code of its holder (8 bytes), the milliseconds from 1970 to its expiry (6), random bytes (2), and the code of all
    /// these (16).
    let bytes: [UInt8]

    /// - Parameter holder: the digest of the token's secret; nil: a caller that needed no token.
    init(for holder: TokenDigest?, expiresAt: Date, key: [UInt8]) {
        let expiry = withUnsafeBytes(of: expiresAt.milliseconds.bigEndian) { Array($0.suffix(6)) }
        let content = Self.code(of: holder, key) + expiry + [UInt8].random(count: 2)
        bytes = content + Self.code(of: content, key)
    }

    /// Reads a value that may come from a stranger: nothing in it is true before `isGenuine` has said so.
    init?(_ text: some StringProtocol) {
        guard let bytes = [UInt8](hexadecimal: text), bytes.count == Self.length else { return nil }
        self.bytes = bytes
    }

    var text: String { bytes.hexadecimal }

    var expiresAt: Date {
        Date(milliseconds: bytes[8..<14].reduce(0) { $0 << 8 | Int64($1) })
    }

    /// Whether a holder of the key has made the ticket.
    func isGenuine(key: [UInt8]) -> Bool {
        let expected = Self.code(of: Array(bytes.prefix(Self.contentLength)), key)
        return MessageAuthentication.isEqual(expected, Array(bytes.dropFirst(Self.contentLength)))
    }

    /// Whether the genuine ticket was made for this holder.
    func isHeld(by holder: TokenDigest?, key: [UInt8]) -> Bool {
        MessageAuthentication.isEqual(Self.code(of: holder, key), Array(bytes.prefix(8)))
    }

    private static func code(of holder: TokenDigest?, _ key: [UInt8]) -> [UInt8] {
        let message = Array("ticket holder ".utf8) + (holder?.bytes ?? [])
        return Array(MessageAuthentication.hmacSHA256(message, key: key).prefix(8))
    }

    private static func code(of content: [UInt8], _ key: [UInt8]) -> [UInt8] {
        Array(MessageAuthentication.hmacSHA256(Array("ticket ".utf8) + content, key: key).prefix(16))
    }

    private static let contentLength = 16
    private static let length = 32
}

extension [UInt8] {
    /// Reads two lowercase digits for each byte; nil if the text has others.
    fileprivate init?(hexadecimal text: some StringProtocol) {
        let digits = text.utf8.map { digit -> UInt8? in
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
            default: nil
            }
        }
        guard digits.count.isMultiple(of: 2) else { return nil }
        self = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            append(high << 4 | low)
        }
    }
}

/// The tickets that this service has admitted and that have not expired yet: each admits one request.
///
/// They are only in memory. So another node of the same database admits such a ticket once more, and so does this service
/// after a restart.
final class UsedOneTimeTokens: Sendable {
    fileprivate struct State {
        var expiries: [[UInt8]: Date] = [:]
        /// The number of tickets at which those that have expired are removed.
        var limit = 1024
    }

    private let state = Locked(State())

    /// - Returns: false if the ticket was used before.
    func use(_ ticket: OneTimeToken, at now: Date) -> Bool {
        state.withLock { state in
            if state.expiries.count >= state.limit { state.removeExpired(at: now) }
            return state.expiries.updateValue(ticket.expiresAt, forKey: ticket.bytes) == nil
        }
    }

    /// The number of tickets in memory.
    var count: Int { state.withLock { $0.expiries.count } }
}

extension UsedOneTimeTokens.State {
    fileprivate mutating func removeExpired(at now: Date) {
        expiries = expiries.filter { $0.value > now }
        limit = max(1024, 2 * expiries.count)
    }
}
