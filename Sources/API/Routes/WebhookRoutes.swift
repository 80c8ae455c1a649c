import Downloads
import HTTPServer
import HTTPTypes
import Storage

/// `/v1/sessions/{session}/webhooks`: declaring endpoints and reading what was delivered to them.
struct WebhookRoutes: Sendable {
    let store: Store

    var routes: [Route] {
        [
            Route(.get, "/v1/sessions/{session}/webhooks", list),
            Route(.put, "/v1/sessions/{session}/webhooks/{webhook}", body: .required(limit: JSONBody.limit), declare),
            Route(.get, "/v1/sessions/{session}/webhooks/{webhook}", show),
            Route(.delete, "/v1/sessions/{session}/webhooks/{webhook}", delete),
            Route(.get, "/v1/sessions/{session}/webhooks/{webhook}/deliveries", deliveries),
        ]
    }

    private func list(_ call: Call) async throws -> Response {
        let webhooks = try store.webhooks(of: try call.name("session"))
        return .json(["webhooks": .array(webhooks.map { $0.document() })])
    }

    private func declare(_ call: Call) async throws -> Response {
        let (session, name) = (try call.name("session"), try call.name("webhook"))
        let wish = try call.body(WebhookWish.init(reading:))
        let (webhook, isNew) = try await store.declareWebhook(
            name, of: session, url: wish.url, events: wish.events, secret: wish.secret)
        return .json(webhook.document(showsSecret: isNew), isNew ? .created : .ok)
    }

    private func show(_ call: Call) async throws -> Response {
        .json(try store.webhook(try call.name("webhook"), of: try call.name("session")).document())
    }

    private func delete(_ call: Call) async throws -> Response {
        try await store.deleteWebhook(try call.name("webhook"), of: try call.name("session"))
        return .noContent
    }

    private func deliveries(_ call: Call) async throws -> Response {
        let webhook = try store.webhook(try call.name("webhook"), of: try call.name("session"))
        let (limit, before) = try call.query { query throws(Problem) in
            (try query.limit(), try query.value("cursor").map(Self.position))
        }
        let page = try store.deliveries(of: webhook, limit: limit, before: before)
        return .json([
            "deliveries": .array(page.deliveries.map(\.document)),
            "next_cursor": .optional(page.next.map { Cursor.text(String($0)) }),
        ])
    }

    private static func position(_ cursor: String) throws(Problem) -> EventID {
        guard let event = EventID(try Cursor.position(cursor)) else { throw Cursor.unknown }
        return event
    }
}

/// What a client says of a webhook.
private struct WebhookWish {
    var url: String
    var events: [EventPattern]
    var secret: WebhookSecret?

    init(reading reader: inout FieldReader) throws(Problem) {
        guard let url = try reader.url("url") else {
            throw Problem(
                .missingField, "`url` is missing: where the events are posted to.", at: reader.pointer(to: "url"))
        }
        self.url = url
        events = try reader.eventPatterns("events") ?? Webhook.defaultEvents
        guard let text = try reader.string("secret") else { return }
        guard let secret = WebhookSecret(text) else {
            throw reader.invalid("secret", "must be whsec_ and the base64 of 24 to 64 bytes; leave it out to get one")
        }
        self.secret = secret
    }
}
