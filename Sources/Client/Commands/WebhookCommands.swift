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
            WebhookDeliveriesCommand.self, ShowDelivery.command, RedeliverDelivery.command, ListWebhookKeys.command,
            RotateWebhookKey.command,
        ])
}

struct WebhookSession: ParsableArguments {
    @Option(
        name: .shortAndLong, help: ArgumentHelp("The session of the webhook.", valueName: "name"),
        completion: .sessionNames)
    var session = "default"
}

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
        let accepted = Member.number("statistics.success_rate", DisplayFormat.percent)
        let events = Member { $0["events"]?.arrayValue?.compactMap(\.stringValue).joined(separator: ",") }
        try console.print(
            response.text, response.list("webhooks"),
            empty: "The session has no webhooks. To declare one: fetchd webhook set NAME URL",
            columns: [
                .init("WEBHOOK", "name"), .state,
                .init("ACCEPTED", accepted, isRightAligned: true, isDispensable: true),
                .init("PENDING", "statistics.pending", isRightAligned: true),
                .init("EVENTS", events, isDispensable: true), .init("URL", "url"),
            ])
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

    @Option("The form of the bodies: standard or cloudevents.", "form")
    var format: String?

    @Option("How requests are signed: v1 with the secret, v1a with the key of the service; repeatable.", "scheme")
    var signature: [String] = []

    @OptionGroup(title: "The endpoint") var endpoint: EndpointOptions
    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        var members = JSONObject()
        members.set("format", format)
        members.set("signature", signature)
        members.set("url", address)
        members.set("headers", try endpoint.headers().json)
        members.set("tls", endpoint.tls(for: address))
        members.set("events", event)
        if let secretFile { members.set("secret", try InputFile.firstLine(of: secretFile)) }
        try await console.print(service.send("PUT", webhook.path(), .object(members)), as: .webhook)
    }
}

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

enum ListWebhookKeys: ActionName {
    static let action = Action<NoOperands>(
        "keys", "Lists the public keys of the signature v1a.", examples: "webhook keys"
    ) { _, service, console in
        try await console.print(service.send("GET", RequestPath("webhook-keys")), as: .webhookKeys)
    }
}

enum RotateWebhookKey: ActionName {
    static let action = Action<NoOperands>(
        "rotate-key", "Replaces the key of the signature v1a. The former one signs too for 24 hours.",
        examples: "webhook rotate-key"
    ) { _, service, console in
        try await console.print(service.send("POST", RequestPath("webhook-keys", "rotate")), as: .webhookKeys)
    }
}

extension Output {
    fileprivate static let webhookKeys = Output { response, console in
        try console.print(
            response.text, response.list("keys"),
            empty: "There is none. To ask for it: fetchd webhook set NAME URL --signature v1a",
            columns: [
                .init("KEY", "key"), .state, .init("UNTIL", Member.time("expires_at")),
                .init("ID", "id", isDispensable: true),
            ])
    }
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
        let attempts = Member { ($0["attempts"]?.arrayValue?.count).map { "\($0)" } }
        let response = Member { delivery in
            let last = delivery["attempts"]?.arrayValue?.last
            return delivery.shown("blocked_by").map { "waits for \($0)" } ?? last?.shown("error")
                ?? last?.shown("status")
        }
        try console.print(
            list.text, list.elements.compactMap(\.parsed),
            empty: "No deliveries found. To send a test: fetchd webhook test \(webhook.name)",
            columns: [
                .init("DELIVERY", "id"), .init("EVENT", "event", isRightAligned: true), .init("TYPE", "type"), .state,
                .init("ATTEMPTS", attempts, isRightAligned: true), .init("LAST RESPONSE", response),
            ])
    }
}

extension Output {
    private struct Queued: Decodable { var id: String }

    fileprivate static let queuedDelivery = line { (delivery: Queued) in
        "Queued \(delivery.id). To see its result: fetchd webhook delivery \(delivery.id)"
    }

    fileprivate static let delivery = Output { response, console in
        guard let delivery = response.text.parsed, let id = delivery.shown("id") else { throw ClientError.unknownForm }
        var fields = FieldList(
            delivery,
            [
                "delivery": "id", "webhook": .joined("webhook", "session", separator: " of "),
                "event": .joined("event", "type"), "state": "state",
            ])
        let attempt = Member.joined(
            .time("at"), Member { $0.shown("status").map { "status \($0)" } },
            .number("latency_seconds") { String(format: "%.3f s", $0) }, "error")
        for document in delivery["attempts"]?.arrayValue ?? [] { fields.add("attempt", attempt.text(document)) }
        let earlier = Member { $0.shown("blocked_by").map { "an earlier event: fetchd webhook delivery \($0)" } }
        fields.add(delivery, ["next attempt": .time("next_attempt_at"), "waits for": earlier])
        fields.add("again", "fetchd webhook redeliver \(id)")
        try console.print(fields)
        for line in lastExchange(of: delivery) { try console.print(line) }
    }

    /// The last request and its answer, as `curl -v` shows them.
    private static func lastExchange(of delivery: JSON) -> [String] {
        guard let last = delivery["attempts"]?.arrayValue?.last, let request = last["request"],
            let url = request.shown("url")
        else { return [] }
        func fields(_ mark: String, _ list: JSON?) -> [String] {
            (list?.arrayValue ?? []).map { "\(mark) \($0.shown("name") ?? ""): \($0.shown("value") ?? "")" }
        }
        let body = delivery["body"].map { $0 == .null ? "(The event is no longer in the journal.)" : $0.written }
        let answer = last.shown("status").map { ["< \($0)"] } ?? []
        return ["", "> POST \(url)"] + fields(">", request["headers"]) + ["", body ?? "", ""] + answer
            + fields("<", last["response_headers"]) + ["", last.shown("response") ?? ""]
    }
}

// MARK: - The webhook

extension Output {
    /// The attempts are those of the last day; the service counts at most a thousand.
    fileprivate static let webhook = fields(
        [
            "webhook": "name", "session": "session", "url": "url", "events": "events", "headers": "header_names",
            "tls": .joined(
                "tls.ca_file", Member(pinnedKeys),
                Member { $0.value("tls.verify") == false ? "certificates are not verified" : nil }),
            "reach": Member {
                // Services of earlier versions have no such member.
                $0["reach"] == "public" ? "public addresses, and those of --allow-webhook-network" : nil
            },
            "format": Member { $0["format"] == "standard" ? nil : $0.shown("format") },
            "signature": Member { webhook in
                let schemes = webhook["signature"]?.arrayValue?.compactMap(\.stringValue) ?? []
                return schemes.isEmpty || schemes == ["v1"] ? nil : schemes.joined(separator: ", ")
            },
            "state": "state",
            "attempts": Member { webhook in
                guard let rate = webhook.value("statistics.success_rate")?.numberValue else { return nil }
                let attempts = webhook.shown("statistics.attempts") ?? "0"
                return "\(attempts) in the last day, \(DisplayFormat.percent(rate)) accepted"
            },
            "latency": .joined(
                .number("statistics.median_latency_seconds") { String(format: "median %.3f s", $0) },
                .number("statistics.p95_latency_seconds") {
                    String(format: "95%% of the attempts within %.3f s", $0)
                }),
            "pending": Member { webhook in
                guard let pending = webhook.shown("statistics.pending"), pending != "0" else { return nil }
                let since = webhook.shown("statistics.oldest_pending_at").map(DisplayFormat.time)
                return pending + (since.map { ", the oldest since \($0)" } ?? "")
            },
            "why": "disabled_reason",
            "next": Member {
                guard $0["state"] == "disabled", let session = $0.shown("session"), let name = $0.shown("name") else {
                    return nil
                }
                return "fetchd webhook enable -s \(session) \(name)"
            },
            "secret": "secret", "created": .time("created_at"),
        ], secret: "secret")

    @Sendable private static func pinnedKeys(_ webhook: JSON) -> String? {
        let keys = webhook.value("tls.pinned_public_keys")?.objectValue?.members ?? []
        let count = keys.reduce(0) { $0 + ($1.value.arrayValue?.count ?? 0) }
        return count == 0 ? nil : DisplayFormat.count(count, "pinned key")
    }
}
