/// Faults below HTTP's semantics: connections that stall, break, are slow or send garbage.
extension OriginBehaviour {
    /// Sends the given number of body bytes, then nothing.
    public static func stalling(after bytes: Int) -> OriginBehaviour {
        incident(.stall, after: bytes)
    }

    /// Closes early: a truncated body.
    public static func closing(after bytes: Int) -> OriginBehaviour {
        incident(.close, after: bytes)
    }

    public static func resetting(after bytes: Int) -> OriginBehaviour {
        incident(.reset, after: bytes)
    }

    /// Waits until the test opens the gate.
    public static func waiting(at bytes: Int, for gate: Gate) -> OriginBehaviour {
        incident(.wait(gate), after: bytes)
    }

    private static func incident(_ incident: OriginAnswer.Incident, after bytes: Int) -> OriginBehaviour {
        spoiling { $0.incidents.append((bytes, incident)) }
    }

    /// Accepts the request and never answers.
    public static var silent: OriginBehaviour {
        spoiling { answer in
            answer.incidents.append((OriginAnswer.beforeHead, .stall))
        }
    }

    /// Accepts the request and answers when the gate opens.
    public static func waitingBeforeHead(for gate: Gate) -> OriginBehaviour {
        spoiling { $0.incidents.append((OriginAnswer.beforeHead, .wait(gate))) }
    }

    /// Closes the connection instead of answering.
    public static var hangingUp: OriginBehaviour {
        spoiling { $0.incidents.append((OriginAnswer.beforeHead, .close)) }
    }

    /// Resets the connection instead of answering.
    public static var resettingBeforeHead: OriginBehaviour {
        spoiling { $0.incidents.append((OriginAnswer.beforeHead, .reset)) }
    }

    public static func chunked(trailers: [(name: String, value: String)] = []) -> OriginBehaviour {
        spoiling { $0.framing = .chunked(trailers: trailers) }
    }

    /// No length; the end of the connection is the end of the body.
    public static var withoutLength: OriginBehaviour {
        spoiling { $0.framing = .untilClose }
    }

    /// Adds no framing; only the given headers describe the body's end.
    public static var unframed: OriginBehaviour {
        spoiling { $0.framing = .unstated }
    }

    public static func claimingLength(_ length: Int) -> OriginBehaviour {
        spoiling { $0.framing = .falseLength(length) }
    }

    public static func limited(bytesPerSecond: Int) -> OriginBehaviour {
        spoiling { $0.bytesPerSecond = bytesPerSecond }
    }

    /// The status line of HTTP/1.0, without persistent connections.
    public static var http10: OriginBehaviour {
        spoiling { answer in
            answer.httpVersion = "HTTP/1.0"
            answer.closesConnection = true
        }
    }

    /// One byte of the head at a time.
    public static func slowHead(every interval: Duration) -> OriginBehaviour {
        spoiling { $0.headByteInterval = interval }
    }

    /// Interim responses before the real one.
    public static func interim(_ statuses: [Int] = [100, 103]) -> OriginBehaviour {
        let heads = statuses.map { "HTTP/1.1 \($0) Interim\r\nX-Interim: \($0)\r\n\r\n" }
        return spoiling { $0.prelude += Array(heads.joined().utf8) }
    }

    /// A head of at least `bytes` bytes, in fields of `fieldBytes`.
    public static func hugeHead(bytes: Int, fieldBytes: Int = 1000) -> OriginBehaviour {
        let value = String(repeating: "x", count: fieldBytes)
        let fields = (0...(bytes / fieldBytes)).map { (name: "X-Padding-\($0)", value: value) }
        return spoiling { $0.headers += fields }
    }

    /// Bytes that are not HTTP, and the end of the connection.
    public static func garbage(_ bytes: [UInt8] = Array("\u{1}\u{2}not http at all\r\n\r\n".utf8)) -> OriginBehaviour {
        spoiling { answer in
            answer.prelude = bytes
            answer.incidents.append((OriginAnswer.beforeHead, .close))
        }
    }

    /// Closes the connection after a complete response.
    public static var closingConnection: OriginBehaviour {
        spoiling { $0.closesConnection = true }
    }
}

extension OriginAnswer {
    /// The offset of incidents before the head and after the prelude.
    public static let beforeHead = -1
}
