import ArgumentParser

struct WebhookDeliveriesCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "deliveries", abstract: "Lists the deliveries of a webhook, newest event first.",
        discussion: """
            EXAMPLES:
              fetchd webhook deliveries me
              fetchd webhook deliveries me --state pending --limit 10
            """)

    @OptionGroup var webhook: WebhookSelection

    @Option(help: "Only deliveries in this state.")
    var state: DeliveryStateArgument?

    @Option(
        name: [.customShort("l", allowingJoined: true), .long],
        help: ArgumentHelp("The maximum number of deliveries. (default: all)", valueName: "n"))
    var limit: Int?

    @OptionGroup(title: "The service") var service: ServiceOptions

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be 1 or more.") }
    }

    func perform(with service: RemoteService, _ console: Console) async throws {
        let path = webhook.path("deliveries").asking("state", state?.rawValue)
        let list = try await service.list("deliveries", at: path, limit: limit)
        if console.isJSON { return try console.print(list.text) }
        let deliveries = try list.decoded(DeliveryDocument.self)
        if deliveries.isEmpty {
            return console.say("No deliveries found. To send a test: fetchd webhook test \(webhook.name)")
        }
        var table = Table(
            .init(title: "DELIVERY"), .init(title: "EVENT", isRightAligned: true), .init(title: "TYPE"),
            .init(title: "STATE"), .init(title: "ATTEMPTS", isRightAligned: true), .init(title: "LAST RESPONSE"))
        for delivery in deliveries {
            let last = delivery.attempts.last
            table.add(
                .init(delivery.id), .init("\(delivery.event)"), .init(delivery.type),
                .init(delivery.state, state: delivery.state), .init("\(delivery.attempts.count)"),
                .init(delivery.blockedBy.map { "waits for \($0)" } ?? Self.response(last)))
        }
        try console.print(table)
    }

    private static func response(_ attempt: DeliveryDocument.Attempt?) -> String {
        attempt.flatMap { $0.error ?? $0.status.map { "\($0)" } } ?? ""
    }
}
