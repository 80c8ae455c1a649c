/// A resource that the origin serves correctly: bytes with validators and ranges, or a fixed response.
public struct OriginResource: Sendable {
    public let respond: @Sendable (RecordedRequest) -> OriginAnswer

    /// Responds with the result of `respond`.
    public init(_ respond: @escaping @Sendable (RecordedRequest) -> OriginAnswer) {
        self.respond = respond
    }

    /// The same response to every request.
    public static func fixed(
        status: Int = 200, headers: [(name: String, value: String)] = [], body: [UInt8] = []
    ) -> OriginResource {
        OriginResource { _ in OriginAnswer(status: status, headers: headers, body: body) }
    }

    /// A redirect; `location` is sent unchanged. A redirect to its own path makes a loop.
    public static func redirect(to location: String, status: Int = 302) -> OriginResource {
        fixed(status: status, headers: [("Location", location)], body: Array("Moved.\n".utf8))
    }

    /// A file: HEAD, single ranges, `If-Range`, `ETag`, `Last-Modified`, 200, 206 and 416.
    public static func file(
        _ bytes: [UInt8], etag: String? = "\"v1\"", lastModified: String? = nil,
        contentType: String? = "application/octet-stream", headers: [(name: String, value: String)] = []
    ) -> OriginResource {
        let file = OriginFile(
            bytes: bytes, etag: etag, lastModified: lastModified, contentType: contentType, headers: headers)
        return OriginResource(file.answer(to:))
    }
}

/// The representation behind `OriginResource.file`.
private struct OriginFile: Sendable {
    let bytes: [UInt8]
    let etag: String?
    let lastModified: String?
    let contentType: String?
    let headers: [(name: String, value: String)]

    func answer(to request: RecordedRequest) -> OriginAnswer {
        guard let range = request.header("Range").flatMap(parseRange), isRangeWanted(by: request) else {
            return whole()
        }
        guard !range.isEmpty else { return unsatisfiable() }
        var answer = whole()
        answer.status = 206
        answer.body = Array(bytes[range])
        answer.set("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(bytes.count)")
        return answer
    }

    private func whole() -> OriginAnswer {
        var answer = OriginAnswer(status: 200, headers: headers, body: bytes)
        answer.set("Accept-Ranges", "bytes")
        if let contentType { answer.set("Content-Type", contentType) }
        if let etag { answer.set("ETag", etag) }
        if let lastModified { answer.set("Last-Modified", lastModified) }
        return answer
    }

    private func unsatisfiable() -> OriginAnswer {
        var answer = OriginAnswer(status: 416, body: Array("Range not satisfiable.\n".utf8))
        answer.set("Content-Range", "bytes */\(bytes.count)")
        return answer
    }

    /// A failed condition turns a range request into one for the whole file. Weak validators never match here (RFC
    /// 9110, 13.1.5).
    private func isRangeWanted(by request: RecordedRequest) -> Bool {
        guard let condition = request.header("If-Range") else { return true }
        return (condition == etag && !condition.hasPrefix("W/")) || condition == lastModified
    }

    /// The requested range, empty if it is outside the file; nil for ranges that may be ignored (other units, several
    /// ranges).
    private func parseRange(_ text: String) -> Range<Int>? {
        guard text.hasPrefix("bytes="), !text.contains(",") else { return nil }
        let ends = text.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        switch (Int(ends[0]), Int(ends[1])) {
        case (let first?, let last): return clamp(first, min(last ?? .max, bytes.count - 1))
        case (nil, let count?): return clamp(max(0, bytes.count - count), bytes.count - 1)
        case (nil, nil): return nil
        }
    }

    private func clamp(_ first: Int, _ last: Int) -> Range<Int> {
        first <= last ? first..<(last + 1) : 0..<0
    }
}
