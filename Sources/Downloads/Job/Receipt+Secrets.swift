import HTTPSemantics

/// The URLs of a receipt can have users and queries.
extension Receipt {
    public var holdsSecrets: Bool {
        URLRule.holdsSecret(finalURL) || redirects.contains(where: URLRule.holdsSecret)
    }

    /// The receipt as it is known without the key.
    public var withoutSecrets: Receipt {
        var receipt = self
        receipt.finalURL = URLRule.redacted(finalURL)
        receipt.redirects = redirects.map(URLRule.redacted)
        return receipt
    }
}
