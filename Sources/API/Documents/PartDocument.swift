import Downloads
import Formats
import HTTPSemantics

/// A part in the form of the response of `resume-data`.
extension Part {
    var document: JSON {
        [
            "url": .string(URLRule.withoutCredentials(url)), "etag": .optional(validators.etag),
            "last_modified": .optional(validators.lastModified), "bytes_expected": .optional(size),
            "ranges": .array(ranges.pairs.map { .array($0.map(JSON.integer)) }),
            "bytes_durable": .integer(bytesDurable),
            "expires_at": .optional(expiry.countdown?.end),
        ]
    }
}
