import Downloads

/// A token with the digests of its secrets.
struct StoredToken: Sendable {
    var token: Token
    var digest: TokenDigest
    /// Of the previous secret. It is accepted until `token.formerSecretUntil`.
    var formerDigest: TokenDigest?
}
