import ArgumentParser
import Foundation

struct WebhookCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhook",
        abstract: "Declares webhooks, tries them, looks at what was delivered.",
        discussion: """
            EXAMPLES:
              fetchd webhook set me https://example.org/hook --event session.finished
              fetchd webhook test me
              fetchd webhook deliveries me
            """,
        subcommands: [
            WebhookListCommand.self, WebhookShowCommand.self, WebhookSetCommand.self, WebhookDeleteCommand.self,
            WebhookTestCommand.self, WebhookRotateSecretCommand.self, WebhookRecoverCommand.self,
            WebhookEnableCommand.self, WebhookDeliveriesCommand.self, WebhookDeliveryCommand.self,
            WebhookRedeliverCommand.self,
        ])
}

/// Which webhook.
struct WebhookSelection: ParsableArguments {
    @Argument(help: "The webhook's name.")
    var name: String

    @OptionGroup var session: WebhookSession

    func path(_ action: String? = nil) -> RequestPath {
        action.map { RequestPath("sessions", session.session, "webhooks", name, $0) }
            ?? RequestPath("sessions", session.session, "webhooks", name)
    }
}

struct WebhookSession: ParsableArguments {
    @Option(name: .shortAndLong, help: ArgumentHelp("Its session.", valueName: "name"), completion: .sessionNames)
    var session = "default"
}

/// What is said of a webhook, and of a delivery.
enum WebhookDescription {
    static func show(_ answer: Answer, _ console: Console) throws {
        if console.isJSON { return try console.print(JSONText(answer.body)) }
        let webhook = try answer.document(WebhookDocument.self)
        var sheet = Sheet()
        sheet.add("webhook", webhook.name)
        sheet.add("session", webhook.session)
        sheet.add("url", webhook.url)
        sheet.add("events", webhook.events.joined(separator: ", "))
        sheet.add("state", webhook.state)
        sheet.add("why", webhook.disabledReason)
        sheet.add(
            "next", webhook.state == "disabled" ? "fetchd webhook enable -s \(webhook.session) \(webhook.name)" : nil)
        sheet.add("secret", webhook.secret)
        sheet.add("created", DisplayFormat.time(webhook.createdAt))
        try console.out.write(sheet.text(on: console.outTerminal))
        if webhook.secret != nil { console.say("Keep the secret: it is not told again.") }
    }

    static func show(delivery answer: Answer, _ console: Console) throws {
        if console.isJSON { return try console.print(JSONText(answer.body)) }
        let delivery = try answer.document(DeliveryDocument.self)
        var sheet = Sheet()
        sheet.add("delivery", delivery.id)
        sheet.add("webhook", "\(delivery.webhook) of \(delivery.session)")
        sheet.add("event", "\(delivery.event), \(delivery.type)")
        sheet.add("state", delivery.state)
        for attempt in delivery.attempts { sheet.add("attempt", Self.attempt(attempt)) }
        sheet.add("next attempt", delivery.nextAttemptAt.map(DisplayFormat.time))
        sheet.add("again", "fetchd webhook redeliver \(delivery.id)")
        try console.out.write(sheet.text(on: console.outTerminal))
    }

    private static func attempt(_ attempt: DeliveryDocument.Attempt) -> String {
        let latency = String(format: "%.3f s", attempt.latencySeconds)
        let status = attempt.status.map { "status \($0)" }
        return [DisplayFormat.time(attempt.at), status, latency, attempt.error].compactMap(\.self).joined(
            separator: ", ")
    }
}

struct WebhookListCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists a session's webhooks.",
        discussion: """
            EXAMPLES:
              fetchd webhook list --session photos
            """, aliases: ["ls"])

    @OptionGroup var session: WebhookSession
    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        let answer = try await service.send("GET", RequestPath("sessions", session.session, "webhooks"))
        let webhooks = try answer.document(WebhookListDocument.self).webhooks
        if console.isJSON { return try console.print(JSONText(answer.body)) }
        if webhooks.isEmpty { return console.say("There are none. To declare one: fetchd webhook set NAME URL") }
        var table = Table(
            .init(title: "WEBHOOK"), .init(title: "STATE"), .init(title: "EVENTS"), .init(title: "URL"))
        for webhook in webhooks {
            table.add(
                .init(webhook.name), .init(webhook.state, state: webhook.state),
                .init(webhook.events.joined(separator: ",")), .init(webhook.url))
        }
        try console.print(table)
    }
}

struct WebhookShowCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows a webhook.",
        discussion: """
            EXAMPLES:
              fetchd webhook show me
            """)

    @OptionGroup var webhook: WebhookSelection
    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        try WebhookDescription.show(await service.send("GET", webhook.path()), console)
    }
}

struct WebhookSetCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Declares a webhook, or replaces where it is and what it wants.",
        discussion: """
            The secret that its posts are signed with is told once, when it is new.

            EXAMPLES:
              fetchd webhook set me https://example.org/hook
              fetchd webhook set me https://example.org/hook -s photos -e 'job.*'
            """)

    @OptionGroup var webhook: WebhookSelection

    @Argument(help: "Where the events are posted to.")
    var address: String

    @Option(
        name: .shortAndLong, parsing: .singleValue,
        help: ArgumentHelp("An event it wants, or a pattern; repeatable. (default: session.*)", valueName: "type"))
    var event: [String] = []

    @Option(
        help: ArgumentHelp("A file with a secret of your own, whsec_...; - reads standard input.", valueName: "file"),
        completion: .file())
    var secretFile: String?

    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        var members: [(name: String, value: JSONText)] = [("url", .string(address))]
        if !event.isEmpty { members.append(("events", .array(event.map { .string($0) }))) }
        if let secretFile { members.append(("secret", .string(try SecretFile.line(of: secretFile)))) }
        let answer = try await service.send("PUT", webhook.path(), JSONText.object(members).bytes)
        try WebhookDescription.show(answer, console)
    }
}

struct WebhookDeleteCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Forgets a webhook; what was on its way to it is cancelled.",
        discussion: """
            EXAMPLES:
              fetchd webhook delete me
            """, aliases: ["rm"])

    @OptionGroup var webhook: WebhookSelection
    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        _ = try await service.send("DELETE", webhook.path())
        try console.isJSON
            ? console.print(.object([("deleted", .array([.string(webhook.name)]))]))
            : console.print("\(webhook.name) deleted")
    }
}
