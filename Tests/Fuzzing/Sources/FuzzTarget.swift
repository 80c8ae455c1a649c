/// A reader of bytes from strangers, and what must hold for every input.
struct FuzzTarget: Sendable {
    /// Also the name of its folder in the corpus.
    let name: String
    /// Ends the process if something does not hold.
    let run: @Sendable ([UInt8]) -> Void

    static let all = [
        json, jsonList, job, query, cursor, entityTag, contentDisposition, contentRange, requestedRanges, retryAfter,
        httpDate, time, base64, digests, challenges, filenameTemplate, url, location, serverSentEvents, list,
        checksumList, link,
        responseHead,
        response,
        requestTarget, requestHead, rehearsal, webhookSecret, webSocket,
    ]

    /// A target for text. Input that is not UTF-8 is repaired, as for a header field.
    static func text(_ name: String, _ run: @escaping @Sendable (String) -> Void) -> FuzzTarget {
        FuzzTarget(name) { run(String(decoding: $0, as: UTF8.self)) }
    }

    init(_ name: String, _ run: @escaping @Sendable ([UInt8]) -> Void) {
        (self.name, self.run) = (name, run)
    }
}

/// Ends the process, so that libFuzzer keeps the input, unless the condition holds.
func require(_ condition: Bool, _ what: @autoclosure () -> String) {
    if !condition { fatalError(what()) }
}

extension [UInt8] {
    /// Divides the input at its line breaks, for targets with several inputs. Missing parts are empty.
    func lines(_ count: Int) -> [String] {
        let parts = split(separator: 0x0A, maxSplits: count - 1, omittingEmptySubsequences: false)
        return (0..<count).map { $0 < parts.count ? String(decoding: parts[$0], as: UTF8.self) : "" }
    }
}
