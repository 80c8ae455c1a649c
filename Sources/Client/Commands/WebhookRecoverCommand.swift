import ArgumentParser

struct WebhookRecoverCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "recover", abstract: "Sends a webhook all matching events after a given one.",
        discussion: """
            EXAMPLES:
              fetchd webhook recover me --after 0
            """)

    @OptionGroup var webhook: WebhookSelection

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The last event that the webhook has accepted.", valueName: "number"))
    var after: Int64

    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        let body = JSONText.object([("after", JSONText(JSONText.written(after)))])
        let answer = try await service.send("POST", webhook.path("recover"), Array(body.bytes))
        if console.isJSON { return try console.print(JSONText(answer.body)) }
        let recovered = try answer.document(Recovered.self).recovered
        try console.print("Queued \(DisplayFormat.count(recovered, "event")) for \(webhook.name)")
    }

    private struct Recovered: Decodable {
        var recovered: Int
    }
}
