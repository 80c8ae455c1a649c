import ArgumentParser
import Foundation

struct SessionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "session",
        abstract: "Declares sessions, shows them, acts on all of their jobs.",
        discussion: """
            EXAMPLES:
              fetchd session set photos --max-concurrent-jobs 2 --directory photos
              fetchd session list
              fetchd session pause photos
            """,
        subcommands: [
            SessionListCommand.self, SessionShowCommand.self, SessionSetCommand.self, SessionPauseCommand.self,
            SessionResumeCommand.self, SessionCancelCommand.self, SessionAcknowledgeCommand.self,
            SessionDeleteCommand.self,
        ])
}

/// What is said of a session.
enum SessionDescription {
    static func counts(_ session: SessionDocument) -> String {
        let states = JobStateArgument.allCases.map(\.rawValue)
        let counts = states.compactMap { state in
            session.counts[state].flatMap { $0 > 0 ? "\($0) \(state)" : nil }
        }
        return counts.isEmpty ? "no jobs" : counts.joined(separator: ", ")
    }

    static func sheet(_ session: SessionDocument) -> Sheet {
        var sheet = Sheet()
        sheet.add("session", session.id)
        sheet.add("state", session.state)
        sheet.add("jobs", counts(session))
        sheet.add(
            "batch", "\(session.batch)" + (session.finishDueAt.map { ", finishes at \(DisplayFormat.time($0))" } ?? ""))
        sheet.add("last event", "\(session.lastEvent)")
        sheet.add("acknowledged through", "\(session.acknowledgedThrough)")
        sheet.add("unacknowledged since", session.unacknowledgedSince.map(DisplayFormat.time))
        sheet.add("directory", session.configuration.directory)
        sheet.add("priority", session.configuration.priority)
        sheet.add("jobs at once", session.configuration.maxConcurrentJobs.map { "\($0)" })
        sheet.add("rate limit", session.configuration.rateLimitBytesPerSecond.map { DisplayFormat.rate(Double($0)) })
        sheet.add("connections", session.configuration.connections.map { "\($0)" })
        sheet.add("created", DisplayFormat.time(session.createdAt))
        return sheet
    }

    static func show(_ answer: Answer, _ console: Console) throws {
        if console.isJSON { return try console.print(JSONText(answer.body)) }
        try console.out.write(sheet(answer.document(SessionDocument.self)).text(on: console.outTerminal))
    }
}

struct SessionListCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists all sessions, by name.",
        discussion: """
            EXAMPLES:
              fetchd session list
              fetchd session list --quiet
            """, aliases: ["ls"])

    @Flag(name: .shortAndLong, help: "Print names alone.")
    var quiet = false

    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        let answer = try await service.send("GET", RequestPath("sessions"))
        let sessions = try answer.document(SessionListDocument.self).sessions
        if console.isJSON { return try console.print(JSONText(answer.body)) }
        if quiet { return try console.out.write(sessions.map { $0.id + "\n" }.joined()) }
        var table = Table(
            .init(title: "SESSION"), .init(title: "STATE"), .init(title: "BATCH", isRightAligned: true),
            .init(title: "UNACKNOWLEDGED SINCE"), .init(title: "JOBS"))
        for session in sessions {
            table.add(
                .init(session.id), .init(session.state, state: session.state), .init("\(session.batch)"),
                .init(session.unacknowledgedSince.map(DisplayFormat.time) ?? ""),
                .init(SessionDescription.counts(session)))
        }
        try console.print(table)
    }
}

struct SessionShowCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows how a session stands.",
        discussion: """
            EXAMPLES:
              fetchd session show photos
            """)

    @Argument(help: "The session.", completion: .sessionNames) var name: String
    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        try SessionDescription.show(await service.send("GET", RequestPath("sessions", name)), console)
    }
}

struct SessionAcknowledgeCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "acknowledge", abstract: "Says that you have taken it from here.",
        discussion: """
            Acknowledges every finish up to an event; without --through, up to the last event there is.

            EXAMPLES:
              fetchd session acknowledge photos
            """)

    @Argument(help: "The session.", completion: .sessionNames) var name: String

    @Option(help: ArgumentHelp("The number of an event. (default: the session's last)", valueName: "number"))
    var through: Int64?

    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        let path = RequestPath("sessions", name)
        let last =
            if let through { through } else {
                try await service.send("GET", path).document(SessionDocument.self).lastEvent
            }
        let body = JSONText.object([("through", JSONText(JSONText.written(last)))])
        let answer = try await service.send("POST", RequestPath("sessions", name, "acknowledge"), Array(body.bytes))
        try SessionDescription.show(answer, console)
    }
}

struct SessionDeleteCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Ends a session; it takes no more jobs, and files stay.",
        discussion: """
            What is outstanding finishes first, or is cancelled with --cancel; then the session is gone.

            EXAMPLES:
              fetchd session delete photos
              fetchd session delete --cancel photos
            """, aliases: ["rm"])

    @Argument(help: "The session.", completion: .sessionNames) var name: String
    @Flag(help: "Cancel what is outstanding.") var cancel = false
    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        let path = RequestPath("sessions", name).asking("outstanding", cancel ? "cancel" : nil)
        let answer = try await service.send("DELETE", path)
        guard answer.status == 202 else {
            return try console.isJSON
                ? console.print(.object([("deleted", .array([.string(name)]))])) : console.print("\(name) deleted")
        }
        if console.isJSON { return try console.print(JSONText(answer.body)) }
        let session = try answer.document(SessionDocument.self)
        try console.print(
            "\(name) is finishing: \(SessionDescription.counts(session)). It is gone when nothing is owed any more.")
    }
}
