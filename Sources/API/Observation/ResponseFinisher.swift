import HTTPServer
import HTTPTypes
import Logging

/// What every response passes before it leaves: it gets its fields for browsers and its request identifier, it is
/// counted, and the request log gets its line.
struct ResponseFinisher: Sendable {
    let origins: OriginRule
    let measurements: RequestMeasurements
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
        note(response, record)
        var response = response
        if origins.addsFields { response.headers.append(contentsOf: origins.fields(for: record.head)) }
        if let id = record.id { response.headers[.requestID] = id.text }
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
