import ArgumentParser

struct WebhookEnableCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable", abstract: "Enables a disabled webhook, and sends its pending deliveries at once.",
        discussion: """
            EXAMPLES:
              fetchd webhook enable me
            """)

    @OptionGroup var webhook: WebhookSelection
    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        try WebhookDescription.show(await service.send("POST", webhook.path("enable")), console)
    }
}
