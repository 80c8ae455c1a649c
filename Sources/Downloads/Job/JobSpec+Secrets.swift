import HTTPSemantics

/// The secrets of a job, and what is left of it without them.
extension JobSpec {
    /// The members that hold secrets.
    public var secrets: Set<SecretMember> {
        var secrets: Set<SecretMember> = []
        if Self.holdsSecret(url) || mirrors.contains(where: Self.holdsSecret) { secrets.insert(.url) }
        if headers.contains(where: \.isSecret) { secrets.insert(.headers) }
        if credentials != nil { secrets.insert(.credentials) }
        if body != nil { secrets.insert(.body) }
        return secrets
    }

    /// Whether any member holds a secret. Most jobs have none, and every submission asks.
    public var holdsSecrets: Bool {
        credentials != nil || body != nil || Self.holdsSecret(url) || mirrors.contains(where: Self.holdsSecret)
            || headers.contains(where: \.isSecret)
    }

    /// The specification as it is known without the key: URLs without user and query, placeholders for the values of
    /// secret headers, no credentials and no body.
    public var withoutSecrets: JobSpec {
        var spec = self
        spec.lost.formUnion(secrets)
        spec.url = Self.redacted(url)
        spec.mirrors = mirrors.map(Self.redacted)
        spec.headers = headers.map(\.redacted)
        spec.credentials = nil
        spec.body = nil
        return spec
    }

    /// The parameters of a rehearsal are no secrets.
    private static func holdsSecret(_ url: String) -> Bool {
        URLRule.holdsSecret(url) && !Rehearsal.isRehearsal(url)
    }

    private static func redacted(_ url: String) -> String {
        Rehearsal.isRehearsal(url) ? url : URLRule.redacted(url)
    }
}

extension JobSpec {
    /// The stored URL that answers show as `shown`, without its user or its query. A client that sends the shown form back
    /// does not change the URL.
    public func url(shownAs shown: String) -> String? {
        ([url] + mirrors).first { URLRule.withoutCredentials($0) == shown || URLRule.redacted($0) == shown }
    }

    /// Ends the loss of the members that a client has supplied again.
    public mutating func endLoss(supplied fields: Set<PatchableField>) {
        if fields.contains(.url), !URLRule.isRedacted(url) { lost.remove(.url) }
        if fields.contains(.credentials) { lost.remove(.credentials) }
        if fields.contains(.headers), !headers.contains(where: \.isRedacted) { lost.remove(.headers) }
    }
}
