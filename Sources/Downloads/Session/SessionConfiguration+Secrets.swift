import HTTPSemantics

/// The secrets of a session, and what is left of it without them.
extension SessionConfiguration {
    /// The members that hold secrets.
    public var secrets: Set<SecretMember> {
        var secrets: Set<SecretMember> = []
        if headers.contains(where: \.isSecret) { secrets.insert(.headers) }
        if let proxy, proxy != proxy.withoutCredentials { secrets.insert(.proxy) }
        return secrets
    }

    /// The configuration as it is known without the key.
    public var withoutSecrets: SessionConfiguration {
        var configuration = self
        configuration.lost.formUnion(secrets)
        configuration.headers = headers.map(\.redacted)
        configuration.proxy = proxy?.withoutCredentials
        return configuration
    }

    /// A placeholder stands for a header that the session does not have.
    public struct UnknownPlaceholder: Error, Sendable, Equatable {
        /// The name of the header.
        public var header: String
    }

    /// The configuration with the secrets of `stored` where a client has sent back their redacted form: the placeholder of
    /// a header, and the proxy without its user and password.
    public func keepingSecrets(of stored: SessionConfiguration) throws(UnknownPlaceholder) -> SessionConfiguration {
        var kept = self
        for (index, header) in headers.enumerated() where header.isRedacted {
            let name = header.name.lowercased()
            guard let known = stored.headers.first(where: { $0.name.lowercased() == name }) else {
                throw UnknownPlaceholder(header: header.name)
            }
            kept.headers[index].value = known.value
        }
        if let proxy, proxy == stored.proxy?.withoutCredentials { kept.proxy = stored.proxy }
        if stored.lost.contains(.headers), kept.headers.contains(where: \.isRedacted) { kept.lost.insert(.headers) }
        if stored.lost.contains(.proxy), kept.proxy != nil, kept.proxy == stored.proxy { kept.lost.insert(.proxy) }
        return kept
    }
}
