/// What can be said of bytes of two responses that were put together.
extension RequestedRange {
    /// What `If-Range` says. Where the checksum proves the whole, another address is not asked for more than it knows: one
    /// that has the same file under no tag would answer the condition with everything.
    public var condition: String? { isElsewhere && restsOnChecksum ? nil : validators.strong }

    /// Whether the response is of the same file as the bytes had so far, by a validator that can be believed: the same
    /// address answers a condition (`If-Range`) by what it sends; of another nobody knows what it makes of one.
    func isProven(by now: Validators) -> Bool {
        guard let strong = validators.strong else { return false }
        return !isElsewhere || now.strong == strong
    }

    /// What the bytes had so far and those of the response have in common. Without proof there is nothing that vouches for
    /// both: a validator of the one would say of the other that it is what nobody has compared it with.
    public func validators(continuedBy now: Validators) -> Validators {
        isProven(by: now) || !isElsewhere ? validators : now.withoutStrength
    }

    /// What was said of the bytes had so far, as far as it goes for the whole: digests are of one version of the file.
    public func label(_ earlier: FileLabel, continuedBy now: Validators) -> FileLabel {
        var label = earlier
        if !isProven(by: now) { label.digests = [] }
        return label
    }
}

extension Validators {
    /// Enough to tell another version apart, and not enough to take it for the same.
    fileprivate var withoutStrength: Validators {
        var validators = self
        if strong == etag { validators.etag = nil }
        validators.lastModifiedIsStrong = false
        return validators
    }
}
