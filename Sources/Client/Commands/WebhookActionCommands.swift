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

struct WebhookRotateSecretCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate-secret", abstract: "Replaces the secret of a webhook.",
        discussion: """
            For 24 hours, fetchd signs each delivery with the old secret, too.

            EXAMPLES:
              fetchd webhook rotate-secret me
            """)

    @OptionGroup var webhook: WebhookSelection

    @Option(
        help: ArgumentHelp(
            "A file with the new secret; - reads standard input. (default: generated)", valueName: "file"),
        completion: .file())
    var secretFile: String?

    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        var body: JSONText?
        if let secretFile { body = .object([("secret", .string(try SecretFile.line(of: secretFile)))]) }
        let answer = try await service.send("POST", webhook.path("rotate-secret"), body.map { Array($0.bytes) })
        try WebhookDescription.show(answer, console)
    }
}

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
                .init(last.map { $0.error ?? $0.status.map { "\($0)" } ?? "" } ?? ""))
        }
        try console.print(table)
    }
}

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
