import Downloads
import HTTPServer
import HTTPTypes
import Logging
import Storage

/// `/v1/sessions/{session}/webhooks`: declares, tests, enables and deletes endpoints, and sends missed events again.
struct WebhookRoutes: Sendable {
    let store: Store
    let log: Logger

    var routes: [Route] {
        [
            Route(.get, "/v1/sessions/{session}/webhooks", .scope(.read, of: .session), isLarge: true, list),
            Route(
                .put, "/v1/sessions/{session}/webhooks/{webhook}", .scope(.sessions, of: .session),
                body: .required(limit: JSONBody.limit), declare),
            Route(.get, "/v1/sessions/{session}/webhooks/{webhook}", .scope(.read, of: .session), show),
            Route(.delete, "/v1/sessions/{session}/webhooks/{webhook}", .scope(.sessions, of: .session), delete),
            Route(
                .post, "/v1/sessions/{session}/webhooks/{webhook}/test", .scope(.sessions, of: .session),
                body: .optional(limit: JSONBody.limit), test),
            Route(
                .post, "/v1/sessions/{session}/webhooks/{webhook}/rotate-secret", .scope(.sessions, of: .session),
                body: .optional(limit: JSONBody.limit), rotateSecret),
            Route(
                .post, "/v1/sessions/{session}/webhooks/{webhook}/recover", .scope(.sessions, of: .session),
                body: .required(limit: JSONBody.limit), recover),
            Route(
                .post, "/v1/sessions/{session}/webhooks/{webhook}/enable", .scope(.sessions, of: .session),
                body: .optional(limit: JSONBody.limit), enable),
        ]
    }

    private func list(_ context: RequestContext) async throws -> Response {
        let webhooks = try await store.webhooks(of: try context.name("session"))
        let statistics = try await store.statistics(of: webhooks)
        var list = DocumentList("webhooks")
        for (webhook, statistics) in zip(webhooks, statistics) {
            try list.require(webhook.document(statistics), "Ask for each webhook by its name.")
        }
        return list.response()
    }

    private func declare(_ context: RequestContext) async throws -> Response {
        let (session, name) = (try context.name("session"), try context.name("webhook"))
        let wanted = try context.body(WebhookDeclaration.init(reading:))
        let (webhook, _, hasNewSecret) = try await store.declareWebhook(
            name, of: session, as: wanted, reaching: reach(of: context), audit: context.auditNote)
        if !webhook.tls.verify {
            log.warning(
                "Webhook \(name) of session \(session) does not verify certificates: an attacker on the network path can read its events."
            )
        }
        return try await answer(webhook, showsSecret: hasNewSecret, hasNewSecret ? .created : .ok)
    }

    /// The addresses to which the caller may send the events of a session: any address for an administrator.
    private func reach(of context: RequestContext) -> WebhookReach {
        context.caller.isAdministrator ? .any : .public
    }

    private func show(_ context: RequestContext) async throws -> Response {
        try await answer(store.webhook(try context.name("webhook"), of: try context.name("session")))
    }

    private func delete(_ context: RequestContext) async throws -> Response {
        try await store.deleteWebhook(
            try context.name("webhook"), of: try context.name("session"), audit: context.auditNote)
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
        let webhook = try await store.rotateSecret(of: name, of: session, to: secret, audit: context.auditNote)
        return try await answer(webhook, showsSecret: true)
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
        return try await answer(store.enableWebhook(try context.name("webhook"), of: try context.name("session")))
    }

    private func answer(
        _ webhook: Webhook, showsSecret: Bool = false, _ status: HTTPResponse.Status = .ok
    ) async throws -> Response {
        let statistics = try await store.statistics(of: [webhook])
        return .json(webhook.document(statistics[0], showsSecret: showsSecret), status)
    }
}
