import Foundation
import HTTPServer
import HTTPTypes
import Hashing
import Storage

/// The cookie of a browser that has signed in (RFC 6265). It names the token that the browser signed in with, and has a code
/// that only the service can make. It does not contain the token's secret.
///
/// The browser does not let scripts read it (`HttpOnly`), and sends it only with requests of pages of the same site
/// (`SameSite=Strict`).
struct SignInCookie: Sendable, Equatable {
    /// The identifier of the token.
    let subject: String
    /// Whole seconds since 1970.
    let expiresAt: Int64
    private let code: String

    static let name = "fetchd_sign_in"

    init(subject: String, expiresAt: Date, digest: TokenDigest, key: [UInt8]) {
        self.subject = subject
        self.expiresAt = Int64(expiresAt.timeIntervalSince1970)
        code = Self.code(subject, self.expiresAt, digest, key)
    }

    /// Reads a value that may come from a stranger: nothing in it is true before `isGenuine` has said so.
    init?(_ value: some StringProtocol) {
        let parts = value.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let expiresAt = Int64(parts[1]) else { return nil }
        subject = String(parts[0])
        self.expiresAt = expiresAt
        code = String(parts[2])
    }

    /// Whether the service has made the cookie for the present secret of the token, and it has not expired. The rotation of a
    /// token, and another key, end all sign-ins.
    ///
    /// - Parameter digest: of the present secret of the token that the cookie names.
    func isGenuine(digest: TokenDigest, key: [UInt8], now: Date) -> Bool {
        let expected = Self.code(subject, expiresAt, digest, key)
        return MessageAuthentication.isEqual(Array(expected.utf8), Array(code.utf8))
            && now < Date(timeIntervalSince1970: TimeInterval(expiresAt))
    }

    var value: String { "\(subject).\(expiresAt).\(code)" }

    /// The cookie of a request. nil if there is none, or if no service has made it.
    static func of(_ head: RequestHead) -> SignInCookie? {
        guard let cookies = head.headers[.cookie] else { return nil }
        let pairs = cookies.split(separator: ";").map { $0.drop { $0 == " " } }
        guard let pair = pairs.first(where: { $0.hasPrefix(name + "=") }) else { return nil }
        return SignInCookie(pair.dropFirst(name.utf8.count + 1))
    }

    /// A value of `Set-Cookie`.
    ///
    /// - Parameters:
    ///   - maxAge: in seconds; 0 removes the cookie.
    ///   - isSecure: whether the page was loaded over HTTPS. Then the browser never sends the cookie over HTTP.
    static func field(_ value: String, maxAge: Int, isSecure: Bool) -> String {
        "\(name)=\(value); Path=/; Max-Age=\(maxAge); HttpOnly; SameSite=Strict\(isSecure ? "; Secure" : "")"
    }

    private static func code(_ subject: String, _ expiresAt: Int64, _ digest: TokenDigest, _ key: [UInt8]) -> String {
        let message = Array("sign-in \(subject) \(expiresAt) ".utf8) + digest.bytes
        return MessageAuthentication.hmacSHA256(message, key: key).hexadecimal
    }
}
