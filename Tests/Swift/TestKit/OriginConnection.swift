/// One connection to the origin: reads requests, and sends responses with their faults.
struct OriginConnection {
    /// Why nothing more is sent on this connection.
    private struct Ended: Error {}

    private static let emptyLine = Array("\r\n\r\n".utf8)

    let socket: LoopbackSocket
    let number: Int
    let site: OriginSite

    func serve() {
        var received: [UInt8] = []
        while let request = readRequest(&received) {
            let exchange = OriginExchange(request, at: site)
            defer { exchange.end() }
            do {
                try send(exchange, to: request)
            } catch {
                return
            }
            if exchange.answer.closesConnection || request.header("Connection")?.lowercased() == "close" { return }
        }
    }

    // MARK: Reading

    /// The first byte of a TLS handshake.
    private static let tlsRecord: UInt8 = 22

    private func readRequest(_ received: inout [UInt8]) -> RecordedRequest? {
        var end = received.firstRange(of: Self.emptyLine)
        while end == nil {
            guard fill(&received) else { return nil }
            if received.first == Self.tlsRecord {
                // Like plain HTTP servers: in text, which a TLS client cannot read.
                _ = socket.send(Array("HTTP/1.1 400 TLS to a plain port\r\nConnection: close\r\n\r\n".utf8)[...])
                return nil
            }
            end = received.firstRange(of: Self.emptyLine)
        }
        guard let end else { return nil }
        let head = String(decoding: received[..<end.lowerBound], as: UTF8.self)
        received.removeSubrange(..<end.upperBound)
        guard let request = RecordedRequest(head: head, body: [], connection: number) else { return nil }
        let length = request.header("Content-Length").flatMap { Int($0) } ?? 0
        while received.count < length {
            guard fill(&received) else { return nil }
        }
        defer { received.removeSubrange(..<length) }
        return RecordedRequest(head: head, body: Array(received[..<length]), connection: number)
    }

    private func fill(_ received: inout [UInt8]) -> Bool {
        let more = socket.receive()
        received += more
        return !more.isEmpty
    }

    // MARK: Sending

    /// The exchange ends directly before the bytes that complete the response: the client may begin the next exchange
    /// as soon as it has them, before this thread runs again.
    private func send(_ exchange: OriginExchange, to request: RecordedRequest) throws(Ended) {
        let answer = exchange.answer
        let hasBody = request.method != "HEAD" && answer.mayHaveBody
        try send(answer.prelude[...])
        try suffer(answer.incidents(at: OriginAnswer.beforeHead), exchange)
        try sendHead(exchange, isComplete: !hasBody || (answer.body.isEmpty && answer.isCompleteWithBody))
        if hasBody { try sendBody(exchange) }
        if case .untilClose = answer.framing { throw Ended() }
    }

    private func sendHead(_ exchange: OriginExchange, isComplete: Bool) throws(Ended) {
        let head = exchange.answer.headBytes
        guard let interval = exchange.answer.headByteInterval else {
            if isComplete { exchange.end() }
            return try send(head[...])
        }
        for (index, byte) in head.enumerated() {
            if isComplete, index == head.count - 1 { exchange.end() }
            try send([byte])
            guard socket.wait(atMost: interval) else { throw Ended() }
        }
    }

    /// Sends the body between two incidents.
    private func sendBody(_ exchange: OriginExchange) throws(Ended) {
        let answer = exchange.answer
        var offset = 0
        for stop in Set(answer.incidents.map(\.offset)).sorted() where 0...answer.body.count ~= stop {
            try sendPieces(of: exchange, offset..<stop)
            try suffer(answer.incidents(at: stop), exchange)
            offset = stop
        }
        try sendPieces(of: exchange, offset..<answer.body.count)
        if case .chunked(let trailers) = answer.framing {
            let fields = trailers.map { "\($0.name): \($0.value)\r\n" }.joined()
            exchange.end()
            try send(Array("0\r\n\(fields)\r\n".utf8)[...])
        }
    }

    private func sendPieces(of exchange: OriginExchange, _ range: Range<Int>) throws(Ended) {
        let answer = exchange.answer
        // The rate is kept by sending twenty times a second; a very low one by sending single bytes.
        let size = answer.bytesPerSecond.map { max(1, $0 / 20) } ?? 256 * 1024
        let pause = answer.bytesPerSecond.map { Duration.seconds(Double(size) / Double($0)) }
        for start in stride(from: range.lowerBound, to: range.upperBound, by: size) {
            let piece = answer.body[start..<min(start + size, range.upperBound)]
            if piece.endIndex == answer.body.count, answer.isCompleteWithBody { exchange.end() }
            if case .chunked = answer.framing {
                try send(Array(String(piece.count, radix: 16).utf8) + Array("\r\n".utf8) + piece + Array("\r\n".utf8))
            } else {
                try send(piece)
            }
            // After the last piece, the client may begin the next request.
            if let pause, start + size < range.upperBound, !socket.wait(atMost: pause) { throw Ended() }
        }
    }

    private func suffer(_ incidents: [OriginAnswer.Incident], _ exchange: OriginExchange) throws(Ended) {
        for incident in incidents {
            switch incident {
            case .stall:
                socket.wait()
                throw Ended()
            case .close:
                throw Ended()
            case .reset:
                exchange.end()
                socket.abort()
                throw Ended()
            case .wait(let gate):
                gate.noteArrival()
                guard socket.wait(for: gate.readingEnd) else { throw Ended() }
            }
        }
    }

    private func send(_ bytes: some Collection<UInt8>) throws(Ended) {
        guard socket.send(ArraySlice(bytes)) else { throw Ended() }
    }
}

extension OriginAnswer {
    fileprivate var mayHaveBody: Bool {
        status >= 200 && status != 204 && status != 304
    }

    /// Whether the last byte of the body is also the last of the response, and nothing happens after it.
    fileprivate var isCompleteWithBody: Bool {
        guard case .length = framing else { return false }
        return !closesConnection && incidents(at: body.count).isEmpty
    }

    fileprivate func incidents(at offset: Int) -> [Incident] {
        incidents.filter { $0.offset == offset }.map(\.incident)
    }

    fileprivate var headBytes: [UInt8] {
        var fields = headers
        switch framing {
        case .length where mayHaveBody: fields.append(("Content-Length", "\(body.count)"))
        case .falseLength(let length): fields.append(("Content-Length", "\(length)"))
        case .chunked: fields.append(("Transfer-Encoding", "chunked"))
        case .untilClose: fields.append(("Connection", "close"))
        case .length, .unstated: break
        }
        let lines = ["\(httpVersion) \(status) Status"] + fields.map { "\($0.name): \($0.value)" }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }
}
