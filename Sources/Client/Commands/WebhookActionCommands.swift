import ArgumentParser

struct WebhookTestCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Sends a webhook.test, to this webhook alone.",
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
        try console.print("\(delivery.id) is on its way. What came of it: fetchd webhook delivery \(delivery.id)")
    }
}

struct WebhookRotateSecretCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate-secret", abstract: "Gives a webhook another secret; the old one signs, too, for 24 hours.",
        discussion: """
            EXAMPLES:
              fetchd webhook rotate-secret me
            """)

    @OptionGroup var webhook: WebhookSelection

    @Option(
        help: ArgumentHelp("A file with a secret of your own; - reads standard input.", valueName: "file"),
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
        commandName: "recover", abstract: "Sends a webhook what it has missed: every later event that it wants.",
        discussion: """
            EXAMPLES:
              fetchd webhook recover me --after 0
            """)

    @OptionGroup var webhook: WebhookSelection

    @Option(name: .shortAndLong, help: ArgumentHelp("The last event that it has taken.", valueName: "number"))
    var after: Int64

    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        let body = JSONText.object([("after", JSONText(JSONText.written(after)))])
        let answer = try await service.send("POST", webhook.path("recover"), Array(body.bytes))
        if console.isJSON { return try console.print(JSONText(answer.body)) }
        let recovered = try answer.document(Recovered.self).recovered
        try console.print("\(DisplayFormat.count(recovered, "event")) on the way to \(webhook.name)")
    }

    private struct Recovered: Decodable {
        var recovered: Int
    }
}

struct WebhookEnableCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable", abstract: "Switches a webhook on again; what waits for it is due at once.",
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
        commandName: "deliveries", abstract: "Lists what was sent to a webhook, the newest event first.",
        discussion: """
            EXAMPLES:
              fetchd webhook deliveries me
              fetchd webhook deliveries me --state pending --limit 10
            """)

    @OptionGroup var webhook: WebhookSelection

    @Option(help: "In this state.")
    var state: DeliveryStateArgument?

    @Option(
        name: [.customShort("l", allowingJoined: true), .long],
        help: ArgumentHelp("So many at most. (default: all)", valueName: "n"))
    var limit: Int?

    @OptionGroup(title: "The service") var service: ServiceOptions

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit takes a number from 1 on.") }
    }

    func perform(with service: RemoteService, _ console: Console) async throws {
        let path = webhook.path("deliveries").asking("state", state?.rawValue)
        let list = try await service.list("deliveries", at: path, limit: limit)
        if console.isJSON { return try console.print(list.text) }
        let deliveries = try list.decoded(DeliveryDocument.self)
        if deliveries.isEmpty {
            return console.say("Nothing of the kind was sent. To try: fetchd webhook test \(webhook.name)")
        }
        var table = Table(
            .init(title: "DELIVERY"), .init(title: "EVENT", isRightAligned: true), .init(title: "TYPE"),
            .init(title: "STATE"), .init(title: "TRIES", isRightAligned: true), .init(title: "LAST ANSWER"))
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
        commandName: "delivery", abstract: "Shows one delivery, with every attempt.",
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
        commandName: "redeliver", abstract: "Sends a delivery again, whatever became of it.",
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
