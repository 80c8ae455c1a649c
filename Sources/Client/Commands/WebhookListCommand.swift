import ArgumentParser
import Foundation

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
        if webhooks.isEmpty {
            return console.say("The session has no webhooks. To declare one: fetchd webhook set NAME URL")
        }
        var table = Table(
            .init(title: "WEBHOOK"), .init(title: "STATE"),
            .init(title: "ACCEPTED", isRightAligned: true, isDispensable: true),
            .init(title: "PENDING", isRightAligned: true), .init(title: "EVENTS", isDispensable: true),
            .init(title: "URL"))
        for webhook in webhooks {
            table.add(
                .init(webhook.name), .init(webhook.state, state: webhook.state),
                .init(webhook.statistics.successRate.map(DisplayFormat.percent) ?? ""),
                .init("\(webhook.statistics.pending)"), .init(webhook.events.joined(separator: ",")),
                .init(webhook.url))
        }
        try console.print(table)
    }
}
