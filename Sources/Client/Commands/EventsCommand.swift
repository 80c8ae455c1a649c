import ArgumentParser

struct EventsCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Prints the events of the journal, in order.",
        discussion: """
            With --follow, the command continues with new events, through restarts of the service, until Ctrl-C. Without \
            --after, it then starts with the next event. With --json, it prints one document; with --follow --json, one \
            document for each event, on a line of its own (JSON Lines). To continue later, pass the number of the last event \
            to --after.

            EXAMPLES:
              fetchd events --session photos
              fetchd events --after 412 --type job.failed --json
              fetchd events --follow --after 0
            """)

    @Flag(name: .shortAndLong, help: "Continue with new events.")
    var follow = false

    @Option(name: .shortAndLong, help: ArgumentHelp("Only events after this number.", valueName: "number"))
    var after: Int64?

    @Option(
        name: .shortAndLong, help: ArgumentHelp("Only events of this session.", valueName: "name"),
        completion: .sessionNames)
    var session: String?

    @Option(name: .shortAndLong, help: ArgumentHelp("Only events of this job.", valueName: "id"), completion: .jobIDs)
    var job: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Only events of this type or pattern: job.failed, session.*.", valueName: "type"))
    var type: String?

    @Option(
        name: [.customShort("l", allowingJoined: true), .long],
        help: ArgumentHelp("The maximum number of events. (default: all)", valueName: "n"))
    var limit: Int?

    @OptionGroup(title: "The service")
    var service: ServiceOptions

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be 1 or more.") }
        if let after, after < 0 { throw ValidationError("--after must be the number of an event, or 0.") }
    }

    func perform(with service: RemoteService, _ console: Console) async throws {
        if follow {
            try await Interruption.cancelling { try await listen(service, console) }
        } else {
            try await read(service, console)
        }
    }

    /// Reads the journal page by page. Without `--json`, it prints each event at once.
    private func read(_ service: RemoteService, _ console: Console) async throws {
        var (elements, next): ([JSONText], Int64?) = ([], after)
        while elements.count < limit ?? .max {
            let room = min(1000, (limit ?? .max) - elements.count)
            let path = RequestPath("events").asking("after", next).asking("session", session).asking("job", job)
                .asking("type", type).asking("limit", Int64(room))
            let answer = try await service.send("GET", path)
            let page = try answer.document(EventListDocument.self)
            next = page.nextAfter
            if page.events.isEmpty { break }
            elements += JSONText(answer.body)["events"]?.elements ?? []
            if !console.isJSON { for event in page.events { try console.print(EventDescription.line(event)) } }
        }
        // A deleted session still has its events. Without events, the session may be mistyped.
        if elements.isEmpty { try await service.requireSession(session) }
        guard console.isJSON else { return }
        let nextAfter = JSONText(JSONText.written(next ?? 0))
        try console.print(.object([("events", .array(elements)), ("next_after", nextAfter)]))
    }

    private func listen(_ service: RemoteService, _ console: Console) async throws {
        try await service.requireSession(session)
        let start = if let after { after } else { try await service.lastEvent() }
        var stream = EventStream(service, .init(session: session, job: job, type: type), after: start)
        var (count, position) = (0, start)
        try await stream.listen { notice in
            switch notice {
            case .lost: tell(console, "fetchd is not answering at \(service.address). Waiting for it.")
            case .missed(let error):
                if console.isJSON { SilentReport(console: console).missed(error) }
            case .back: tell(console, "fetchd is back.")
            case .event(let event) where event.type == "reset":
                let next = event.lastID.flatMap { Int64($0) } ?? position
                console.warn("The journal continues at another event", EventDescription.jump(from: position, to: next))
                position = next
            case .event(let event) where event.type == "job.progress":
                break
            case .event(let event):
                let text = JSONText(Array(event.data.utf8))
                let document = try EventDescription.document(text, service)
                try console.isJSON ? console.print(text) : console.print(EventDescription.line(document))
                (count, position) = (count + 1, document.id)
            }
            return count < limit ?? .max
        }
    }

    /// With `--json`, temporary problems are not reported.
    private func tell(_ console: Console, _ sentence: String) {
        if !console.isJSON { console.say(sentence) }
    }
}
