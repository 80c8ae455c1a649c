import HTTPSemantics

/// What can be said of bytes of two responses that were put together.
extension RequestedRange {
    /// What `If-Range` says. Where the checksum proves the whole, another address is not asked for more than it knows: one
    /// that has the same file under no tag would answer the condition with everything.
    public var condition: String? { isElsewhere && restsOnChecksum ? nil : validators.strong }

    /// Whether the response is of the same file as the bytes had so far. Bytes of two answers are put together only when
    /// both name the same strong validator (RFC 9110, section 15.3.7.3). That `If-Range` was sent proves nothing: there are
    /// servers that do not look at it.
    ///
    /// A 416 adds no byte, and most servers name no validator in it: the condition was met, else they would have sent
    /// everything (RFC 9110, section 13.1.5). Of another address nobody knows what it makes of a condition.
    func isProven(by response: ResponseFacts) -> Bool {
        guard let strong = validators.strong else { return false }
        return response.validators.strong == strong || response.status == 416 && !isElsewhere
    }

    /// What the bytes had so far and those of the response have in common. Without proof there is nothing that vouches for
    /// both: a validator of the one would say of the other that it is what nobody has compared it with.
    public func validators(continuedBy response: ResponseFacts) -> Validators {
        if isProven(by: response) || validators.strong == nil && !isElsewhere { return validators }
        return response.validators.withoutStrength
    }

    /// What was said of the bytes had so far, as far as it goes for the whole: digests are of one version of the file.
    public func label(_ earlier: FileLabel, continuedBy response: ResponseFacts) -> FileLabel {
        var label = earlier
        if !isProven(by: response) { label.digests = [] }
        return label
    }
}
