import Downloads
import HTTPServer
import HTTPTypes
import Storage

/// `/v1/sessions/{session}/webhooks`: declares, tests, enables and deletes endpoints, and sends missed events again.
struct WebhookRoutes: Sendable {
    let store: Store

    var routes: [Route] {
        [
            Route(.get, "/v1/sessions/{session}/webhooks", list),
            Route(.put, "/v1/sessions/{session}/webhooks/{webhook}", body: .required(limit: JSONBody.limit), declare),
            Route(.get, "/v1/sessions/{session}/webhooks/{webhook}", show),
            Route(.delete, "/v1/sessions/{session}/webhooks/{webhook}", delete),
            Route(
                .post, "/v1/sessions/{session}/webhooks/{webhook}/test", body: .optional(limit: JSONBody.limit), test),
            Route(
                .post, "/v1/sessions/{session}/webhooks/{webhook}/rotate-secret",
                body: .optional(limit: JSONBody.limit), rotateSecret),
            Route(
                .post, "/v1/sessions/{session}/webhooks/{webhook}/recover", body: .required(limit: JSONBody.limit),
                recover),
            Route(
                .post, "/v1/sessions/{session}/webhooks/{webhook}/enable", body: .optional(limit: JSONBody.limit),
                enable),
        ]
    }

    private func list(_ context: RequestContext) async throws -> Response {
        let webhooks = try await store.webhooks(of: try context.name("session"))
        return .json(["webhooks": .array(webhooks.map { $0.document() })])
    }

    private func declare(_ context: RequestContext) async throws -> Response {
        let (session, name) = (try context.name("session"), try context.name("webhook"))
        let wanted = try context.body(WebhookDeclaration.init(reading:))
        let (webhook, isNew) = try await store.declareWebhook(
            name, of: session, url: wanted.url, events: wanted.events, secret: wanted.secret)
        return .json(webhook.document(showsSecret: isNew), isNew ? .created : .ok)
    }

    private func show(_ context: RequestContext) async throws -> Response {
        .json(try await store.webhook(try context.name("webhook"), of: try context.name("session")).document())
    }

    private func delete(_ context: RequestContext) async throws -> Response {
        try await store.deleteWebhook(try context.name("webhook"), of: try context.name("session"))
        return .noContent
    }

    private func test(_ context: RequestContext) async throws -> Response {
        try context.requireNoOptions()
        return .json(try await store.testWebhook(try context.name("webhook"), of: try context.name("session")).document)
    }

    /// Responds with the new secret. No other response of the API shows it.
    private func rotateSecret(_ context: RequestContext) async throws -> Response {
        let (session, name) = (try context.name("session"), try context.name("webhook"))
        let secret =
            context.hasBody ? try context.body { reader throws(Problem) in try reader.webhookSecret("secret") } : nil
        return .json(
            try await store.rotateSecret(of: name, of: session, to: secret).document(showsSecret: true))
    }

    /// Responds with the number of deliveries that are sent again.
    private func recover(_ context: RequestContext) async throws -> Response {
        let (session, name) = (try context.name("session"), try context.name("webhook"))
        let after = try context.body { reader throws(Problem) in
            try reader.eventNumber("after", "the number of the last event that need not be sent again")
        }
        var (count, position): (Int, EventID?) = (0, after)
        while let after = position {
            let step = try await store.recoverWebhook(name, of: session, after: after)
            (count, position) = (count + step.count, step.next)
        }
        return .json(["recovered": .count(count)])
    }

    private func enable(_ context: RequestContext) async throws -> Response {
        try context.requireNoOptions()
        return .json(
            try await store.enableWebhook(try context.name("webhook"), of: try context.name("session")).document())
    }
}

/// A webhook in the request of a client.
private struct WebhookDeclaration {
    var url: String
    var events: [EventPattern]
    var secret: WebhookSecret?

    init(reading reader: inout FieldReader) throws(Problem) {
        guard let url = try reader.url("url") else { throw reader.missing("url", "the URL that events are posted to") }
        self.url = url
        events = try reader.eventPatterns("events") ?? Webhook.defaultEvents
        secret = try reader.webhookSecret("secret")
    }
}

extension FieldReader {
    fileprivate mutating func webhookSecret(_ name: String) throws(Problem) -> WebhookSecret? {
        guard let text = try string(name) else { return nil }
        guard let secret = WebhookSecret(text) else {
            throw invalid(name, "must be whsec_ and the base64 of 24 to 64 bytes; omit it to get a generated secret")
        }
        return secret
    }
}
