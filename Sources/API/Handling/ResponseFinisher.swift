import Base
import HTTPServer
import HTTPTypes
import Logging
import Synchronization

/// Completes every response before it is sent: adds its fields for browsers and its request identifier, counts it, and writes
/// its line to the request log.
struct ResponseFinisher: Sendable {
    let origins: OriginRule
    let measurements: RequestMeasurements
    let answers: ResponseBudget
    let logsRequests: Bool
    let log: Logger

    /// The identifier of a request whose response may be kept; nil: none is made, so that the response stays as it is.
    var idOfKeptResponse: RequestID? { logsRequests ? RequestID() : nil }

    func finish(_ answer: Answer, _ record: RequestRecord) -> Answer {
        switch answer {
        case .now(let response): .now(finish(response, record))
        case .prepared(let prepared): Answer(finish(CachedResponse.prepared(prepared), record))
        case .eventually, .whileConnected, .parked, .webSocket: answer
        }
    }

    /// A response that was rendered before stays as it is, unless this request needs other fields.
    func finish(_ reply: CachedResponse, _ record: RequestRecord) -> CachedResponse {
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
        // A response for pages of every origin has said so itself.
        if origins.addsFields, response.headers[.accessControlAllowOrigin] == nil {
            for field in origins.fields(for: record.head) {
                if field.name == .vary {
                    response.headers.vary(by: field.value)
                } else {
                    response.headers.append(field)
                }
            }
        }
        if let id = record.id { response.headers[.requestID] = id.text }
        return response
    }

    /// Counts the memory that the response takes until its client has read it.
    ///
    /// - Returns: 503 if there is none for it. A request that has changed something is answered in any case.
    private func counted(_ response: Response, _ record: RequestRecord) -> Response {
        guard response.memory == nil, let bytes = response.body.heldBytes, bytes > ResponseBudget.freeBytes else {
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

struct RequestRecord: Sendable {
    let head: RequestHead
    /// nil: the response is one that fetchd keeps rendered for all clients, and the client has sent no identifier.
    let id: RequestID?
    /// nil: the request was refused before its route, or its caller, was known.
    private let match: RouteMatch?
    private let caller: Caller?
    private let watch: Stopwatch
    private var hasWaited = false

    init(_ head: RequestHead, _ match: RouteMatch?, _ caller: Caller?, _ id: RequestID?, _ watch: Stopwatch) {
        self.head = head
        self.match = match
        self.caller = caller
        self.id = id
        self.watch = watch
    }

    var waiting: RequestRecord {
        var record = self
        record.hasWaited = true
        return record
    }

    /// Who holds the memory of the response: the caller, or the address of a client that needs no permission.
    var holder: String {
        guard let caller, caller !== Caller.anonymous else { return head.remoteAddress }
        return caller.identity
    }

    func note(_ status: HTTPResponse.Status, in measurements: RequestMeasurements) {
        measurements.note(hasWaited ? .wait : match?.route.group ?? .other, status, watch)
    }

    var logFields: Logger.Metadata {
        var fields: Logger.Metadata = [:]
        if let id { fields["request"] = "\(id.text)" }
        if let job = match?.job { fields["job"] = "\(job)" }
        return fields
    }

    /// The line of the request log. It leaves out the query, which may contain secrets.
    ///
    /// - Parameters:
    ///   - created: the job that the request has created; nil if it has created none, or several.
    ///   - bytes: of the body; nil if its length is not known before it is sent.
    func logFields(_ status: HTTPResponse.Status, created: String?, bytes: Int?) -> Logger.Metadata {
        var fields = logFields
        fields["method"] = "\(head.method.rawValue)"
        fields["path"] = "\(head.path)"
        fields["status"] = .stringConvertible(status.code)
        fields["duration_seconds"] = .stringConvertible((watch.seconds * 1e6).rounded() / 1e6)
        fields["address"] = "\(head.clientAddress)"
        if let bytes { fields["bytes"] = .stringConvertible(bytes) }
        if let label = caller?.label { fields["caller"] = "\(label)" }
        if let created { fields["job"] = "\(created)" }
        return fields
    }
}

/// Identifies a request in its response, in the log and in the logs of the client (`X-Request-Id`).
struct RequestID: Sendable, Hashable {
    let text: String

    /// The client's own identifier; nil if it has sent none, or one that is not 1 to 128 of `A-Z a-z 0-9 . _ : + / = @ -`.
    init?(sentWith head: RequestHead) {
        guard head.headers.contains(.requestID), let text = head.headers[.requestID],
            (1...128).contains(text.utf8.count), text.utf8.allSatisfy(Self.isSafe)
        else { return nil }
        self.text = text
    }

    /// A new identifier: 16 hexadecimal digits.
    init() {
        // SplitMix64 (Steele, Lea, Flood 2014): no two of a process are equal, and it needs no system call.
        let number = Self.next.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
        var mixed = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        mixed ^= mixed >> 31
        let digits = String(mixed, radix: 16)
        text = String(repeating: "0", count: 16 - digits.count) + digits
    }

    private static let next = Atomic<UInt64>(.random(in: .min ... .max))

    private static func isSafe(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "._:+/=@-".utf8.contains(byte)
        }
    }
}

/// Every request records here, on the thread of its connection: three atomic additions.
struct RequestMeasurements: Sendable {
    /// In the order of `RouteClass`.
    private let durations = RouteClass.allCases.map { _ in HistogramRecorder(.answers) }
    /// In the order of `StatusClass`, for each route.
    private let statuses = RouteClass.allCases.map { _ in StatusClass.allCases.map { _ in Counter() } }

    func note(_ route: RouteClass, _ status: HTTPResponse.Status, _ watch: Stopwatch) {
        durations[route.rawValue].record(watch)
        statuses[route.rawValue][StatusClass(status).rawValue].increment()
    }

    /// From the complete head to the decision on the response; sending takes longer.
    func durations(of route: RouteClass) -> Histogram { durations[route.rawValue].snapshot }

    func count(of route: RouteClass, _ status: StatusClass) -> Int { statuses[route.rawValue][status.rawValue].value }
}

/// A group of routes whose durations the metrics report together.
///
/// The raw value is the position in `allCases`.
enum RouteClass: Int, Sendable, CaseIterable {
    case submit
    case poll
    case list
    case change
    case file
    case sessions, webhooks
    /// Pages of the journal, and the beginnings of streams.
    case events
    /// Requests that have waited for a change, of any route.
    case wait
    /// Tokens, the audit log, settings, signing in.
    case administration
    case service
    case dashboard
    /// All other routes, and requests that were refused before their route was known.
    case other

    var name: String { "\(self)" }

    init(_ method: HTTPRequest.Method, _ pattern: [Substring]) {
        guard pattern.first == "v1", pattern.count > 1 else {
            self = Self.withoutVersion[pattern.first ?? ""] ?? .other
            return
        }
        switch pattern[1] {
        case "jobs": self = Self.ofJobs(method, pattern)
        case "sessions": self = pattern.contains("webhooks") ? .webhooks : .sessions
        case "deliveries", "webhook-keys", "webhooks": self = .webhooks
        case "events", "consumers": self = .events
        case "stats": self = .service
        case "hosts", "nodes": self = method == .get ? .service : .administration
        case "tokens", "audit", "service", "sign-in", "tickets": self = .administration
        default: self = .other
        }
    }

    private static let withoutVersion: [Substring: RouteClass] = [
        "": .dashboard, "dashboard": .dashboard, "livez": .service, "readyz": .service, "metrics": .service,
        "client.js": .dashboard, "openapi.yaml": .service,
    ]

    private static func ofJobs(_ method: HTTPRequest.Method, _ pattern: [Substring]) -> RouteClass {
        if pattern.last == "file" { return .file }
        let isWhole = pattern.count == 2
        if method == .get { return isWhole ? .list : .poll }
        return isWhole || pattern.last == "batch" ? .submit : .change
    }
}

/// The first digit of a status. The raw value is the position in `allCases`.
enum StatusClass: Int, Sendable, CaseIterable {
    case success, redirection, clientError, serverError

    var name: String { "\(rawValue + 2)xx" }

    init(_ status: HTTPResponse.Status) {
        switch status.code {
        case ..<300: self = .success
        case ..<400: self = .redirection
        case ..<500: self = .clientError
        default: self = .serverError
        }
    }
}
