import ArgumentParser
import Formats
import Foundation

struct WebhookCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "webhook", "Declares and tests webhooks, and shows their deliveries.",
        examples: "webhook set me https://example.org/hook --event session.finished", "webhook test me",
        "webhook deliveries me",
        subcommands: [
            ListWebhooks.command, ShowWebhook.command, WebhookSetCommand.self, DeleteWebhook.command,
            TestWebhook.command, WebhookRotateSecretCommand.self, WebhookRecoverCommand.self, EnableWebhook.command,
            WebhookDeliveriesCommand.self, ShowDelivery.command, RedeliverDelivery.command,
        ])
}

struct WebhookSession: ParsableArguments {
    @Option(
        name: .shortAndLong, help: ArgumentHelp("The session of the webhook.", valueName: "name"),
        completion: .sessionNames)
    var session = "default"
}

/// The webhook that a command acts on.
struct WebhookSelection: ParsableArguments {
    @Argument(help: "The name of the webhook.") var name: String
    @OptionGroup var session: WebhookSession

    func path(_ action: String? = nil) -> RequestPath {
        action.map { RequestPath("sessions", session.session, "webhooks", name, $0) }
            ?? RequestPath("sessions", session.session, "webhooks", name)
    }
}

enum ListWebhooks: ActionName {
    static let action = Action<WebhookSession>(
        "list", "Lists a session's webhooks.", examples: "webhook list --session photos", aliases: ["ls"]
    ) { operands, service, console in
        let response = try await service.send("GET", RequestPath("sessions", operands.session, "webhooks"))
        let webhooks = try response.list("webhooks", of: WebhookDocument.self)
        if console.isJSON { return try console.print(response.text) }
        if webhooks.isEmpty {
            return console.say("The session has no webhooks. To declare one: fetchd webhook set NAME URL")
        }
        try console.print(
            Table(
                webhooks, .init("WEBHOOK") { $0.name }, .init("STATE", state: \.state) { $0.state },
                .init("ACCEPTED", isRightAligned: true, isDispensable: true) {
                    $0.statistics.successRate.map(DisplayFormat.percent) ?? ""
                },
                .init("PENDING", isRightAligned: true) { "\($0.statistics.pending)" },
                .init("EVENTS", isDispensable: true) { $0.events.joined(separator: ",") }, .init("URL") { $0.url }))
    }
}

enum ShowWebhook: ActionName {
    static let action = Action<WebhookSelection>(
        "show", "Shows a webhook.", examples: "webhook show me", method: "GET",
        path: { $0.path() }, prints: .webhook)
}

enum DeleteWebhook: ActionName {
    static let action = Action<WebhookSelection>(
        "delete", "Deletes a webhook and cancels its pending deliveries.", examples: "webhook delete me",
        aliases: ["rm"]
    ) { webhook, service, console in
        try await console.print(service.send("DELETE", webhook.path()), as: .done("deleted", webhook.name))
    }
}

enum TestWebhook: ActionName {
    static let action = Action<WebhookSelection>(
        "test", "Sends a webhook.test event to a webhook.", examples: "webhook test me", method: "POST",
        path: { $0.path("test") }, prints: .queuedDelivery)
}

enum EnableWebhook: ActionName {
    static let action = Action<WebhookSelection>(
        "enable", "Enables a disabled webhook, and sends its pending deliveries at once.",
        examples: "webhook enable me", method: "POST",
        path: { $0.path("enable") }, prints: .webhook)
}

struct WebhookSetCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        "set", "Creates a webhook, or replaces its URL, events, headers and TLS settings.",
        discussion: """
            fetchd signs each delivery with the secret of the webhook. The command prints the secret only once, when it is \
            created.
            """,
        examples: "webhook set me https://example.org/hook",
        "webhook set me https://example.org/hook -s photos -e 'job.*'",
        "webhook set me https://example.org/hook -H 'X-Tenant: films'")

    @OptionGroup var webhook: WebhookSelection
    @Argument(help: "The URL that fetchd posts the events to.") var address: String

    @Option(
        "An event type or pattern that the webhook receives; repeatable. (default: session.*)", "type",
        name: .shortAndLong)
    var event: [String] = []

    @Option(
        "A file with the secret, whsec_...; - reads standard input. (default: generated)", "file", completion: .file())
    var secretFile: String?

    @OptionGroup(title: "The endpoint") var endpoint: EndpointOptions
    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        var members = JSONObject()
        members.set("url", address)
        members.set("headers", try endpoint.headers().json)
        members.set("tls", endpoint.tls(for: address))
        members.set("events", event)
        if let secretFile { members.set("secret", try InputFile.firstLine(of: secretFile)) }
        try await console.print(service.send("PUT", webhook.path(), .object(members)), as: .webhook)
    }
}

/// How the service reaches the endpoint of a webhook.
struct EndpointOptions: ParsableArguments {
    @Option(
        "A header of every request; repeatable. Give secrets with --header-file.", "name: value",
        name: [.customShort("H"), .long])
    var header: [HeaderArgument] = []

    @Option(
        "A file with one header on each line, 'name: value'; - reads standard input.", "file", completion: .file())
    var headerFile: String?

    @Option(
        "A file on the service's machine with the certificates (PEM) to trust instead of the system's.", "path")
    var endpointCaFile: String?

    @Option(
        "A public key that the endpoint may have: base64 of the SHA-256 of its SubjectPublicKeyInfo; repeatable.", "key"
    )
    var endpointPin: [String] = []

    func headers() throws(ClientError) -> [HeaderArgument] {
        guard let headerFile else { return header }
        var headers = header
        let text = String(decoding: try InputFile.bytes(of: headerFile), as: UTF8.self)
        for line in text.split(whereSeparator: \.isNewline) {
            guard let header = HeaderArgument(argument: String(line)) else {
                throw ClientError(
                    .refused, "The file has a line that is not a header",
                    "Every line of \(headerFile) must be a header, such as 'Authorization: Bearer 9f2c'.")
            }
            headers.append(header)
        }
        return headers
    }

    /// - Parameter address: the URL of the endpoint.
    func tls(for address: String) -> JSON? {
        var members = JSONObject()
        members.set("ca_file", endpointCaFile)
        if !endpointPin.isEmpty {
            let host = (URLComponents(string: address)?.host ?? "").filter { $0 != "[" && $0 != "]" }
            members.set("pinned_public_keys", .object([host: .strings(endpointPin)]))
        }
        return members.isEmpty ? nil : .object(members)
    }
}

struct WebhookRecoverCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        "recover", "Sends a webhook all matching events after a given one.", examples: "webhook recover me --after 0")

    private struct Recovered: Decodable { var recovered: Int }

    @OptionGroup var webhook: WebhookSelection

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The last event that the webhook has accepted.", valueName: "number"))
    var after: Int64

    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        let name = webhook.name
        let output = Output.line { (result: Recovered) in
            "Queued \(DisplayFormat.count(result.recovered, "event")) for \(name)"
        }
        let response = try await service.send("POST", webhook.path("recover"), ["after": .integer(after)])
        try console.print(response, as: output)
    }
}

struct WebhookRotateSecretCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        "rotate-secret", "Replaces the secret of a webhook.",
        discussion: "For 24 hours, fetchd signs each delivery with the old secret, too.",
        examples: "webhook rotate-secret me")

    @OptionGroup var webhook: WebhookSelection

    @Option("A file with the new secret; - reads standard input. (default: generated)", "file", completion: .file())
    var secretFile: String?

    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        var body: JSON?
        if let secretFile { body = ["secret": .string(try InputFile.firstLine(of: secretFile))] }
        try await console.print(service.send("POST", webhook.path("rotate-secret"), body), as: .webhook)
    }
}

// MARK: - Deliveries

struct DeliveryID: ParsableArguments {
    @Argument(help: "The delivery.") var id: String
}

enum ShowDelivery: ActionName {
    static let action = Action<DeliveryID>(
        "delivery", "Shows a delivery with all its attempts.",
        examples: "webhook delivery dlv_01HZX3K9V7Q2N4R8T6W0YB5CDG", method: "GET",
        path: { RequestPath("deliveries", $0.id) }, prints: .delivery)
}

enum RedeliverDelivery: ActionName {
    static let action = Action<DeliveryID>(
        "redeliver", "Sends a delivery again, in any state.",
        examples: "webhook redeliver dlv_01HZX3K9V7Q2N4R8T6W0YB5CDG", method: "POST",
        path: { RequestPath("deliveries", $0.id, "redeliver") }, prints: .delivery)
}

struct WebhookDeliveriesCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        "deliveries", "Lists the deliveries of a webhook, newest event first.",
        examples: "webhook deliveries me", "webhook deliveries me --state pending --limit 10")

    @OptionGroup var webhook: WebhookSelection
    @Option("Only deliveries in this state.") var state: DeliveryStateArgument?
    @Option("The maximum number of deliveries. (default: all)", "n", name: .limit) var limit: Int?
    @OptionGroup(title: "The service") var service: ServiceOptions

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be 1 or more.") }
    }

    func perform(with service: RemoteService, _ console: Console) async throws {
        let path = webhook.path("deliveries").query("state", state?.rawValue)
        let list = try await service.list("deliveries", at: path, limit: limit)
        if console.isJSON { return try console.print(list.text) }
        let deliveries = try list.decoded(DeliveryDocument.self)
        if deliveries.isEmpty {
            return console.say("No deliveries found. To send a test: fetchd webhook test \(webhook.name)")
        }
        try console.print(
            Table(
                deliveries, .init("DELIVERY") { $0.id }, .init("EVENT", isRightAligned: true) { "\($0.event)" },
                .init("TYPE") { $0.type }, .init("STATE", state: \.state) { $0.state },
                .init("ATTEMPTS", isRightAligned: true) { "\($0.attempts.count)" },
                .init("LAST RESPONSE") { $0.blockedBy.map { "waits for \($0)" } ?? Self.result($0.attempts.last) }))
    }

    private static func result(_ attempt: DeliveryDocument.Attempt?) -> String {
        attempt.flatMap { $0.error ?? $0.status.map { "\($0)" } } ?? ""
    }
}

struct DeliveryDocument: Decodable, Sendable {
    var id: String
    var webhook: String
    var session: String
    var event: Int64
    var type: String
    var state: String
    var attempts: [Attempt]
    var nextAttemptAt: String?
    var blockedBy: String?

    struct Attempt: Decodable, Sendable {
        var at: String
        var status: Int?
        var error: String?
        var latencySeconds: Double

        fileprivate var line: String {
            [DisplayFormat.time(at), status.map { "status \($0)" }, String(format: "%.3f s", latencySeconds), error]
                .compactMap(\.self).joined(separator: ", ")
        }
    }
}

extension Output {
    fileprivate static let queuedDelivery = line { (delivery: DeliveryDocument) in
        "Queued \(delivery.id). To see its result: fetchd webhook delivery \(delivery.id)"
    }

    fileprivate static let delivery = fields { (delivery: DeliveryDocument) in
        var fields = FieldList()
        fields.add("delivery", delivery.id)
        fields.add("webhook", "\(delivery.webhook) of \(delivery.session)")
        fields.add("event", "\(delivery.event), \(delivery.type)")
        fields.add("state", delivery.state)
        for attempt in delivery.attempts { fields.add("attempt", attempt.line) }
        fields.add("next attempt", delivery.nextAttemptAt.map(DisplayFormat.time))
        fields.add("waits for", delivery.blockedBy.map { "an earlier event: fetchd webhook delivery \($0)" })
        fields.add("again", "fetchd webhook redeliver \(delivery.id)")
        return fields
    }
}

// MARK: - The webhook

struct WebhookDocument: Decodable, Sendable {
    var name: String
    var session: String
    var url: String
    var events: [String]
    var state: String
    var headerNames: [String]
    var tls: TLS
    /// Absent from services of earlier versions.
    var reach: String?
    var statistics: Statistics
    var disabledReason: String?
    var createdAt: String
    /// The service returns it only at creation and rotation.
    var secret: String?

    struct TLS: Decodable, Sendable {
        var caFile: String?
        var pinnedPublicKeys: [String: [String]]
        var verify: Bool
    }

    /// The attempts of the last day; the service counts at most a thousand.
    struct Statistics: Decodable, Sendable {
        var attempts: Int
        var successRate: Double?
        var medianLatencySeconds: Double?
        var p95LatencySeconds: Double?
        var pending: Int
        var oldestPendingAt: String?
    }
}

extension Output {
    fileprivate static let webhook = Output { response, console in
        let webhook = try response.document(WebhookDocument.self)
        try console.print(FieldList(webhook))
        if webhook.secret != nil { console.say("Keep the secret: it is not shown again.") }
    }
}

extension FieldList {
    fileprivate init(_ webhook: WebhookDocument) {
        let statistics = webhook.statistics
        add("webhook", webhook.name)
        add("session", webhook.session)
        add("url", webhook.url)
        add("events", webhook.events.joined(separator: ", "))
        add("headers", webhook.headerNames.joined(separator: ", "))
        add("tls", Self.tls(webhook.tls))
        add("reach", webhook.reach == "public" ? "public addresses, and those of --allow-webhook-network" : nil)
        add("state", webhook.state)
        add(
            "attempts",
            statistics.successRate.map {
                "\(statistics.attempts) in the last day, \(DisplayFormat.percent($0)) accepted"
            })
        add("latency", Self.latency(statistics))
        add("pending", Self.pending(statistics))
        add("why", webhook.disabledReason)
        add("next", webhook.state == "disabled" ? "fetchd webhook enable -s \(webhook.session) \(webhook.name)" : nil)
        add("secret", webhook.secret)
        add("created", DisplayFormat.time(webhook.createdAt))
    }

    private static func tls(_ tls: WebhookDocument.TLS) -> String {
        let pins = tls.pinnedPublicKeys.values.reduce(0) { $0 + $1.count }
        return [
            tls.caFile, pins == 0 ? nil : DisplayFormat.count(pins, "pinned key"),
            tls.verify ? nil : "certificates are not verified",
        ].compactMap(\.self).joined(separator: ", ")
    }

    private static func latency(_ statistics: WebhookDocument.Statistics) -> String? {
        guard let median = statistics.medianLatencySeconds, let p95 = statistics.p95LatencySeconds else { return nil }
        return String(format: "median %.3f s, 95%% of the attempts within %.3f s", median, p95)
    }

    private static func pending(_ statistics: WebhookDocument.Statistics) -> String? {
        guard statistics.pending > 0 else { return nil }
        return "\(statistics.pending)"
            + (statistics.oldestPendingAt.map { ", the oldest since \(DisplayFormat.time($0))" } ?? "")
    }
}
