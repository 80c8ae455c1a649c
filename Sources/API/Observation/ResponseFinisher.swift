import HTTPServer
import HTTPTypes
import Logging

/// What every response passes before it leaves: it gets its fields for browsers and its request identifier, it is
/// counted, and the request log gets its line.
struct ResponseFinisher: Sendable {
    let origins: OriginRule
    let measurements: RequestMeasurements
    let answers: AnswerBudget
    /// Whether each request has a line in the log.
    let logsRequests: Bool
    let log: Logger

    /// The identifier of a request whose response may be kept; nil: none is made, so that the response stays as it is.
    var idOfKeptResponse: RequestID? { logsRequests ? RequestID() : nil }

    func finish(_ answer: Answer, _ record: RequestRecord) -> Answer {
        switch answer {
        case .now(let response): .now(finish(response, record))
        case .prepared(let prepared):
            switch finish(Reply.prepared(prepared), record) {
            case .prepared(let prepared): .prepared(prepared)
            case .response(let response): .now(response)
            }
        case .eventually, .whileConnected, .parked, .webSocket: answer
        }
    }

    /// A response that was rendered before stays as it is, unless this request needs other fields.
    func finish(_ reply: Reply, _ record: RequestRecord) -> Reply {
        switch reply {
        case .response(let response): return .response(finish(response, record))
        case .prepared(let prepared):
            guard !origins.addsFields, record.id == nil else { return .response(finish(prepared.response, record)) }
            note(prepared.response, record)
            return reply
        }
    }

    func finish(_ response: Response, _ record: RequestRecord) -> Response {
        var response = counted(response, record)
        note(response, record)
        if origins.addsFields { response.headers.append(contentsOf: origins.fields(for: record.head)) }
        if let id = record.id { response.headers[.requestID] = id.text }
        return response
    }

    /// Counts the memory that the response takes until its client has read it.
    ///
    /// - Returns: 503 if there is none for it. A request that has changed something is answered in any case.
    private func counted(_ response: Response, _ record: RequestRecord) -> Response {
        guard response.memory == nil, let bytes = response.body.heldBytes, bytes > AnswerBudget.freeBytes else {
            return response
        }
        let memory = answers.share(of: record.holder)
        if record.head.method != .get, record.head.method != .head {
            memory.force(to: bytes)
        } else if !memory.resize(to: bytes) {
            if case .stream(let stream) = response.body { stream.finish() }
            return Problem.tooManyAnswers.response
        }
        var response = response
        response.memory = memory
        return response
    }

    private func note(_ response: Response, _ record: RequestRecord) {
        let status = response.status
        record.note(status, in: measurements)
        guard logsRequests else {
            log.debug("\(record.head.method) \(record.head.path) -> \(status.code)", metadata: record.logFields)
            return
        }
        log.info(
            "\(record.head.method) \(record.head.path) -> \(status.code)",
            metadata: record.logFields(
                status, created: response.createdJob, bytes: response.body.knownLength))
    }
}

extension Response {
    /// The job in the `Location` of a 201.
    fileprivate var createdJob: String? {
        guard status == .created, let location = headers[.location], location.hasPrefix("jobs/") else { return nil }
        return String(location.dropFirst("jobs/".count))
    }
}

extension Body {
    /// The largest number of bytes that are in memory for a client that does not read; nil: none.
    fileprivate var heldBytes: Int? {
        switch self {
        case .none, .file: nil
        case .bytes(let bytes): bytes.count
        case .stream(let stream): stream.bufferLimit
        }
    }

    /// Bytes; nil for a stream whose end is not known.
    var knownLength: Int? {
        switch self {
        case .none: 0
        case .bytes(let bytes): bytes.count
        case .file(let region): Int(region.length)
        case .stream(let stream): stream.length.map { Int($0) }
        }
    }
}
