/// Servers with unusual or wrong range responses.
extension OriginBehaviour {
    /// 206 with several parts, although one range was requested (RFC 9110, section 15.3.7.2).
    public static var multipartRanges: OriginBehaviour {
        partial { answer, _ in
            let (boundary, range) = ("-fence-", answer.header("Content-Range") ?? "")
            let part = "\r\n--\(boundary)\r\nContent-Type: application/octet-stream\r\nContent-Range: \(range)\r\n\r\n"
            answer.body = Array(part.utf8) + answer.body + Array("\r\n--\(boundary)--\r\n".utf8)
            answer.set("Content-Type", "multipart/byteranges; boundary=\(boundary)")
            answer.set("Content-Range", nil)
        }
    }

    /// The requested range under another status than 206.
    public static func rangesUnder(status: Int) -> OriginBehaviour {
        partial { answer, _ in answer.status = status }
    }

    /// The head of the requested range, and then the whole file in chunks.
    public static var wholeFileUnderTheHeadOfARange: OriginBehaviour {
        partial { answer, exchange in
            var request = exchange.request
            request.headers.removeAll { $0.name.lowercased() == "range" }
            answer.body = exchange.resource.respond(request).body
            answer.framing = .chunked()
        }
    }

    /// A correct 206 for at most `count` bytes of the requested range.
    public static func cappingRanges(at count: Int) -> OriginBehaviour {
        OriginBehaviour(prepare: { exchange in
            guard let range = exchange.request.header("Range"), range.hasSuffix("-"),
                let first = Int(range.dropFirst("bytes=".count).dropLast())
            else { return }
            exchange.request.headers.removeAll { $0.name.lowercased() == "range" }
            exchange.request.headers.append(("Range", "bytes=\(first)-\(first + count - 1)"))
        })
    }

    /// 206 for every request: the whole file under `bytes 0-...`, or the bytes of `range`.
    public static func rangeUnasked(_ range: Range<Int>? = nil) -> OriginBehaviour {
        OriginBehaviour(spoil: { answer, exchange in
            guard answer.status == 200 else { return }
            let total = answer.body.count
            let range = range ?? 0..<total
            answer.status = 206
            answer.body = Array(answer.body[range])
            answer.set("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total)")
        })
    }

    private static func partial(
        _ spoil: @escaping @Sendable (inout OriginAnswer, Exchange) -> Void
    ) -> OriginBehaviour {
        OriginBehaviour(spoil: { answer, exchange in
            if answer.status == 206 { spoil(&answer, exchange) }
        })
    }
}
