import ArgumentParser

struct WebhookRedeliverCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "redeliver", abstract: "Sends a delivery again, in any state.",
        discussion: """
            EXAMPLES:
              fetchd webhook redeliver dlv_01HZX3K9V7Q2N4R8T6W0YB5CDG
            """)

    @Argument(help: "The delivery.") var id: String
    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        try WebhookDescription.show(
            delivery: await service.send("POST", RequestPath("deliveries", id, "redeliver")), console)
    }
}
