import ArgumentParser
import Foundation

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
