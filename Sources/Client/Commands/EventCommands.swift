import ArgumentParser
import Formats

struct EventsCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        "events", "Prints the events of the journal, in order.",
        discussion: """
            With --follow, the command continues with new events, through restarts of the service, until Ctrl-C. Without \
            --after, it then starts with the next event. With --json, it prints one document; with --follow --json, one \
            document for each event, on a line of its own (JSON Lines). To continue later, pass the number of the last event \
            to --after.
            """,
        examples: "events --session photos", "events --after 412 --type job.failed --json", "events --follow --after 0")

    @Flag(name: .shortAndLong, help: "Continue with new events.") var follow = false
    @Option("Only events after this number.", "number", name: .shortAndLong) var after: Int64?
    @Option("Only events of this session.", "name", name: .shortAndLong, completion: .sessionNames) var session: String?
    @Option("Only events of this job.", "id", name: .shortAndLong, completion: .jobIDs) var job: String?

    @Option("Only events of this type or pattern: job.failed, session.*.", "type", name: .shortAndLong)
    var type: String?

    @Option("The maximum number of events. (default: all)", "n", name: .limit) var limit: Int?
    @OptionGroup(title: "The service") var service: ServiceOptions

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be 1 or more.") }
        if let after, after < 0 { throw ValidationError("--after must be the number of an event, or 0.") }
    }

    func perform(with service: RemoteService, _ console: Console) async throws {
        if follow {
            try await InterruptSignals.cancelling { try await listen(service, console) }
        } else {
            try await read(service, console)
        }
    }

    /// Reads the journal page by page. Without `--json`, it prints each event at once.
    private func read(_ service: RemoteService, _ console: Console) async throws {
        let log = try await service.log("events", at: filter.path, after: after, limit: limit) {
            page throws(ClientError) in
            let events = try page.list("events", of: EventDocument.self)
            if !console.isJSON { for event in events { try console.print(event.line) } }
        }
        // A deleted session still has its events. Without events, the session may be mistyped.
        if log.elements.isEmpty { try await service.requireSession(session) }
        if console.isJSON { try console.print(log.text) }
    }

    private var filter: EventStream.Filter { .init(session: session, job: job, type: type) }

    private func listen(_ service: RemoteService, _ console: Console) async throws {
        try await service.requireSession(session)
        let start = if let after { after } else { try await service.lastEvent() }
        var stream = EventStream(service, filter, after: start)
        var count = 0
        var position = start
        try await stream.listen { notice in
            switch notice {
            case .disconnected where !console.isJSON:
                console.say("fetchd is not answering at \(service.address). Waiting for it.")
            case .reconnected where !console.isJSON: console.say("fetchd is back.")
            case .disconnected, .reconnected: break
            case .outage(let error): if console.isJSON { SilentReport(console: console).serviceOutage(error) }
            case .event(let event) where event.type == "reset":
                let next = event.lastID.flatMap { Int64($0) } ?? position
                console.warn("The journal continues at another event", Self.jump(from: position, to: next))
                position = next
            case .event(let event) where event.type == "job.progress": break
            case .event(let event):
                let text = JSON(document: event.data.utf8)
                guard let document = try? text.decoded(EventDocument.self) else {
                    throw ClientError.notFetchd(service.address, "its event stream has an entry that is not an event")
                }
                try console.isJSON ? console.print(text) : console.print(document.line)
                count += 1
                position = document.id
            }
            return count < limit ?? .max
        }
    }

    private static func jump(from position: Int64, to next: Int64) -> String {
        position < next
            ? "Events up to \(next) were removed from the journal. The stream continues after event \(next)."
            : "Event \(position) does not exist yet. The stream continues after event \(next), the last one."
    }
}

struct EventDocument: Decodable, Sendable {
    var id: Int64
    var type: String
    var time: String
    var session: String
    var job: String?
    var data: Details

    /// The data of an event of any type. Members that the type does not have are nil.
    struct Details: Decodable, Sendable {
        var snapshot: JobDocument?
        var reason: String?
        var why: String?
        var retryAt: String?
        var offset: Int64?
        var batch: Int?
        var outcome: String?
        var counts: [String: Int]?
    }
}

extension EventDocument {
    fileprivate var line: String {
        let subject = [session, job].compactMap(\.self).joined(separator: " ")
        return ["\(id)", DisplayFormat.time(time), type, subject, data.line].filter { !$0.isEmpty }
            .joined(separator: "  ")
    }
}

extension EventDocument.Details {
    fileprivate var line: String {
        if let snapshot { return snapshot.state == "cancelled" ? snapshot.name : JobDescription.line(snapshot) }
        if let outcome {
            let counts = (counts ?? [:]).filter { $0.value > 0 }.sorted { $0.key < $1.key }
            return "batch \(batch ?? 0) \(outcome): " + counts.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        }
        if let reason { return reason + (retryAt.map { ", again at \(DisplayFormat.time($0))" } ?? "") }
        return why ?? offset.map { "from \(DisplayFormat.bytes($0))" } ?? ""
    }
}

// MARK: - The audit log

struct AuditCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        "audit", "Prints the audit log: changes of tokens, sessions, webhooks and settings, and refused requests.",
        discussion: """
            Equal refusals of a minute are one entry with a count. To continue later, pass the number of the last entry to \
            --after.
            """,
        examples: "audit", "audit --after 412 --json")

    @Option("Only entries after this number.", "number", name: .shortAndLong) var after: Int64?
    @Option("The maximum number of entries. (default: all)", "n", name: .limit) var limit: Int?
    @OptionGroup(title: "The service") var service: ServiceOptions

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be 1 or more.") }
        if let after, after < 0 { throw ValidationError("--after must be the number of an entry, or 0.") }
    }

    func perform(with service: RemoteService, _ console: Console) async throws {
        let path = RequestPath("audit")
        let log = try await service.log("entries", at: path, after: after ?? 0, limit: limit) { _ throws(ClientError) in
        }
        try console.print(
            log.text, log.elements.compactMap(\.parsed), empty: "The audit log has no entries.",
            columns: [
                .init("NUMBER", "id", isRightAligned: true), .init("TIME", .time("time")),
                .init(
                    "CALLER",
                    Member { $0.shown("name") ?? $0.shown("caller") ?? ($0.shown("reason") == nil ? "-" : "unknown") }),
                .init("ADDRESS", "address", isDispensable: true),
                .init("OUTCOME", Member { $0.shown("reason") ?? $0.shown("outcome") }),
                .init("COUNT", "count", isRightAligned: true), .init("ACTION", .joined("action", "target", "change")),
            ])
    }
}
