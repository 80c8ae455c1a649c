/// A way to be a bad server. Behaviours are values that are listed after a resource and combine from left to right:
///
///     origin.serve("/big.bin", .file(bytes), .closing(after: 1000).first(2), .ignoringRanges)
///
/// A new one is a static function that changes the request before the resource sees it, or the answer afterwards.
/// Offsets count the bytes of the answer's body, not of the file.
public struct OriginBehaviour: Sendable {
    /// One request in progress: everything that a behaviour may read and change.
    public struct Exchange: Sendable {
        /// The number of this request to the path, counted from 1.
        public let ordinal: Int
        public var request: RecordedRequest
        public var resource: OriginResource
    }

    private let prepare: @Sendable (inout Exchange) -> Void
    private let spoil: @Sendable (inout OriginAnswer, Exchange) -> Void

    public init(
        prepare: @escaping @Sendable (inout Exchange) -> Void = { _ in },
        spoil: @escaping @Sendable (inout OriginAnswer, Exchange) -> Void = { _, _ in }
    ) {
        self.prepare = prepare
        self.spoil = spoil
    }

    /// The response to a request, after all `behaviours`.
    static func answer(to exchange: Exchange, _ behaviours: [OriginBehaviour]) -> OriginAnswer {
        var exchange = exchange
        for behaviour in behaviours { behaviour.prepare(&exchange) }
        var answer = exchange.resource.respond(exchange.request)
        for behaviour in behaviours { behaviour.spoil(&answer, exchange) }
        return answer
    }
}

// MARK: - When

extension OriginBehaviour {
    /// Only for requests that satisfy the condition.
    public func when(_ isMeant: @escaping @Sendable (Exchange) -> Bool) -> OriginBehaviour {
        OriginBehaviour { exchange in
            if isMeant(exchange) { prepare(&exchange) }
        } spoil: { answer, exchange in
            if isMeant(exchange) { spoil(&answer, exchange) }
        }
    }

    /// Only for these requests to the path, counted from 1.
    public func on(_ ordinals: some RangeExpression<Int> & Sendable) -> OriginBehaviour {
        when { ordinals.contains($0.ordinal) }
    }

    public func first(_ count: Int) -> OriginBehaviour {
        on(...count)
    }

    public var once: OriginBehaviour { first(1) }
}

// MARK: - Wrong answers

extension OriginBehaviour {
    /// Another response: `.answering(503, headers: [("Retry-After", "2")]).first(3)`.
    public static func answering(
        _ status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []
    ) -> OriginBehaviour {
        spoiling { $0 = OriginAnswer(status: status, headers: headers, body: body) }
    }

    public static func header(_ name: String, _ value: String?) -> OriginBehaviour {
        spoiling { $0.set(name, value) }
    }

    /// A range request is answered by 200 and the whole file.
    public static var ignoringRanges: OriginBehaviour {
        OriginBehaviour(prepare: { exchange in
            exchange.request.headers.removeAll { $0.name.lowercased() == "range" }
        })
    }

    /// `If-Range` is ignored: a range request is answered by 206, even if the file has changed.
    public static var ignoringConditions: OriginBehaviour {
        OriginBehaviour(prepare: { exchange in
            exchange.request.headers.removeAll { $0.name.lowercased() == "if-range" }
        })
    }

    /// A range request is answered by a correct 206 for a shifted range: `distance` bytes later, or earlier if
    /// negative.
    public static func shiftingRanges(by distance: Int) -> OriginBehaviour {
        OriginBehaviour(prepare: { exchange in
            guard let range = exchange.request.header("Range") else { return }
            let ends = range.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
            guard ends.count == 2, let first = Int(ends[0]) else { return }
            exchange.request.headers.removeAll { $0.name.lowercased() == "range" }
            exchange.request.headers.append(("Range", "bytes=\(max(0, first + distance))-\(ends[1])"))
        })
    }

    /// Another resource is served from now on: the file has changed.
    public static func serving(_ resource: OriginResource) -> OriginBehaviour {
        OriginBehaviour(prepare: { $0.resource = resource })
    }

    /// A correct 206 with another `Content-Range`.
    public static func contentRange(_ value: String) -> OriginBehaviour {
        OriginBehaviour(spoil: { answer, _ in
            if answer.status == 206 { answer.set("Content-Range", value) }
        })
    }

    /// 416 for every request.
    public static func unsatisfiable(total: Int) -> OriginBehaviour {
        answering(416, headers: [("Content-Range", "bytes */\(total)")])
    }

    static func spoiling(_ spoil: @escaping @Sendable (inout OriginAnswer) -> Void) -> OriginBehaviour {
        OriginBehaviour(spoil: { answer, _ in spoil(&answer) })
    }
}
