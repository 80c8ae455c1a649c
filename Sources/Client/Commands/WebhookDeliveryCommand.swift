import ArgumentParser

struct WebhookDeliveryCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "delivery", abstract: "Shows a delivery with all its attempts.",
        discussion: """
            EXAMPLES:
              fetchd webhook delivery dlv_01HZX3K9V7Q2N4R8T6W0YB5CDG
            """)

    @Argument(help: "The delivery.") var id: String
    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        try WebhookDescription.show(delivery: await service.send("GET", RequestPath("deliveries", id)), console)
    }
}
