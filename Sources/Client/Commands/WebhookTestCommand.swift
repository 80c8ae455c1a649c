import ArgumentParser

struct WebhookTestCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Sends a webhook.test event to a webhook.",
        discussion: """
            EXAMPLES:
              fetchd webhook test me
            """)

    @OptionGroup var webhook: WebhookSelection
    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        let answer = try await service.send("POST", webhook.path("test"))
        if console.isJSON { return try console.print(JSONText(answer.body)) }
        let delivery = try answer.document(DeliveryDocument.self)
        try console.print("Queued \(delivery.id). To see its result: fetchd webhook delivery \(delivery.id)")
    }
}
