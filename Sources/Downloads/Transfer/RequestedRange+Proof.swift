import HTTPSemantics

/// Evidence that the bytes of two responses belong to the same file.
extension RequestedRange {
    /// The value of `If-Range`; nil to send none. A different URL may serve the same file without a validator, and
    /// would then answer the condition with the whole file. So it receives no condition if the checksum verifies the
    /// whole file.
    public var condition: String? { isElsewhere && restsOnChecksum ? nil : validators.strong }

    /// Whether the response belongs to the same file as the received bytes. fetchd combines the bytes of two responses
    /// only if both have the same strong validator (RFC 9110, section 15.3.7.3). An `If-Range` in the request proves
    /// nothing, because some servers ignore it.
    ///
    /// A 416 adds no bytes, and most servers send no validator with it. It proves that the condition was met, because
    /// otherwise the server would have sent the whole file (RFC 9110, section 13.1.5). This does not hold for another
    /// URL, which may treat the condition differently.
    func isProven(by response: ResponseFacts) -> Bool {
        guard let strong = validators.strong else { return false }
        return response.validators.strong == strong || response.status == 416 && !isElsewhere
    }

    /// The validators that hold for both the received bytes and those of the response. Without proof, a strong
    /// validator of one response must not vouch for the bytes of the other, because nothing has compared them.
    public func validators(continuedBy response: ResponseFacts) -> Validators {
        if isProven(by: response) || validators.strong == nil && !isElsewhere { return validators }
        return response.validators.withoutStrength
    }

    /// The label of the received bytes, as far as it holds for the whole file. Without proof, its digests are dropped,
    /// because a digest belongs to one version of the file.
    public func label(_ earlier: FileLabel, continuedBy response: ResponseFacts) -> FileLabel {
        var label = earlier
        if !isProven(by: response) { label.digests = [] }
        return label
    }
}
