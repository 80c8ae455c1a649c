import Downloads
import Formats
import HTTPSemantics
import HTTPServer
import HTTPTypes
import Logging
import Storage

/// `/v1/sessions/{session}/webhooks`: declares, tests, enables and deletes endpoints, and sends missed events again.
/// `/v1/webhooks` lists those of all sessions.
struct WebhookRoutes: Sendable {
    let store: Store
    let log: Logger

    var routes: [Route] {
        [
            Route(.get, "/v1/webhooks", .scope(.read, of: .selection), readsQuery: true, isLarge: true, listAll),
            Route(.get, Self.path, .scope(.read, of: .session), isLarge: true, list),
            Route(.put, Self.path + "/{webhook}", .scope(.sessions, of: .session), body: .json, declare),
            Route(.get, Self.path + "/{webhook}", .scope(.read, of: .session), show),
            Route(.delete, Self.path + "/{webhook}", .scope(.sessions, of: .session), delete),
            action("test", body: .optionalJSON, test), action("rotate-secret", body: .optionalJSON, rotateSecret),
            action("recover", body: .json, recover), action("enable", body: .optionalJSON, enable),
        ]
    }

    static let path = "/v1/sessions/{session}/webhooks"

    private func action(
        _ name: String, body: Route.BodyRule, _ act: @escaping @Sendable (RequestContext) async throws -> Response
    ) -> Route {
        Route(.post, Self.path + "/{webhook}/" + name, .scope(.sessions, of: .session), body: body, act)
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

    private func listAll(_ context: RequestContext) async throws -> Response {
        let (limit, position) = try context.query { query throws(Problem) in
            (
                Int(try query.integer("limit", in: 1...1000) ?? 1000),
                try query.value("cursor").map(WebhookPosition.init(cursor:))
            )
        }
        // One more shows whether there is a next page.
        let found = try await store.webhooks(visible: context.caller.visible, after: position, limit: limit + 1)
        let page = Array(found.prefix(limit))
        var list = DocumentList("webhooks")
        let last = list.add(Array(zip(page, try await store.statistics(of: page)))) { $0.document($1) }?.0
        let next = last ?? (found.count > limit ? page.last : nil)
        return list.response(["next_cursor": .optional(next.map { Cursor.text("\($0.session)/\($0.name)") })])
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
    private func reach(of context: RequestContext) -> WebhookReach { context.caller.isAdministrator ? .any : .public }

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
        let secret = try context.optionalBody { reader throws(Problem) in try reader.webhookSecret("secret") }
        let webhook = try await store.rotateSecret(of: name, of: session, to: secret, audit: context.auditNote)
        return try await answer(webhook, showsSecret: true)
    }

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

extension WebhookPosition {
    fileprivate init(cursor: String) throws(Problem) {
        let parts = try Cursor.position(cursor).split(separator: "/")
        guard parts.count == 2, let session = Name(String(parts[0])), let name = Name(String(parts[1])) else {
            throw Cursor.unknown
        }
        self.init(session, name)
    }
}

extension WebhookDeclaration {
    init(reading reader: inout FieldReader) throws(Problem) {
        let url = try reader.url("url")
        let events = try reader.eventPatterns("events")
        let headers = try reader.headers("headers", rule: \.faultInWebhook)
        let tls = try WireType.tls.read(&reader, "tls") ?? TLSRule()
        let format = try reader.choice("format", of: WebhookFormat.self)
        let signatures = try reader.choices("signature", of: WebhookSignatureScheme.self)
        if signatures?.isEmpty == true { throw reader.invalid("signature", "must name at least one of v1, v1a") }
        let secret = try reader.webhookSecret("secret")
        guard let url else { throw reader.missing("url", "the URL that events are posted to") }
        self.init(
            url: url, events: events ?? Webhook.defaultEvents, headers: headers ?? [], tls: tls,
            format: format ?? .standard, signatures: signatures ?? [.v1], secret: secret)
        // Redirects are not followed, so a pin for another host would have no effect, without an error.
        if let host = tls.pinnedPublicKeys.keys.sorted().first(where: { $0 != URLRule.host(of: url) }) {
            let pointer = "/tls/pinned_public_keys/\(host)"
            throw Problem(.invalidValue, "\(FieldReader.shown(pointer)) is not the host of `url`.", at: pointer)
        }
    }
}

extension FieldReader {
    mutating func webhookSecret(_ name: String) throws(Problem) -> WebhookSecret? {
        try string(name, "must be whsec_ and the base64 of 24 to 64 bytes; omit it to get a generated secret") {
            WebhookSecret($0)
        }
    }
}

/// `/v1/webhook-keys`: the public keys of the signatures `v1a`, and their rotation.
struct WebhookKeyRoutes: Sendable {
    let store: Store

    var routes: [Route] {
        [
            Route(.get, "/v1/webhook-keys", .open, list),
            Route(.post, "/v1/webhook-keys/rotate", .scope(.admin, of: .service), body: .optionalJSON, rotate),
        ]
    }

    private func list(_ context: RequestContext) async throws -> Response {
        .json(["keys": .array(try await store.webhookKeys().map(\.document))])
    }

    private func rotate(_ context: RequestContext) async throws -> Response {
        try context.requireNoOptions()
        try await store.rotateWebhookKey(audit: context.auditNote)
        return try await list(context)
    }
}

extension WebhookKey {
    fileprivate var document: JSON {
        [
            "id": .string(id), "key": .string(publicKey), "state": expiresAt == nil ? "active" : "retiring",
            "expires_at": .optional(expiresAt),
        ]
    }
}

/// The delivery log: lists deliveries with the responses of the endpoints, and sends a delivery again.
struct DeliveryRoutes: Sendable {
    let store: Store

    var routes: [Route] {
        [
            Route(
                .get, WebhookRoutes.path + "/{webhook}/deliveries", .scope(.read, of: .session), readsQuery: true,
                isLarge: true, list),
            Route(.get, "/v1/deliveries/{id}", .scope(.read, of: .delivery), show),
            Route(
                .post, "/v1/deliveries/{id}/redeliver", .scope(.sessions, of: .delivery), body: .optionalJSON, redeliver
            ),
        ]
    }

    private func list(_ context: RequestContext) async throws -> Response {
        let (state, limit, before) = try context.query { query throws(Problem) in
            (
                try query.choice("state", of: Delivery.State.Kind.self), try query.limit(),
                try query.value("cursor").map(Self.position)
            )
        }
        let webhook = try await store.webhook(try context.name("webhook"), of: try context.name("session"))
        let page = try await store.deliveries(of: webhook, state: state, limit: limit, before: before)
        var list = DocumentList("deliveries")
        let next = list.add(page.deliveries, \.document)?.event ?? page.next
        return list.response(["next_cursor": .optional(next.map { Cursor.text(String($0)) })])
    }

    private static func position(_ cursor: String) throws(Problem) -> EventID {
        guard let event = EventID(try Cursor.position(cursor)) else { throw Cursor.unknown }
        return event
    }

    private func show(_ context: RequestContext) async throws -> Response {
        let delivery = try await store.delivery(Self.id(context))
        return .json(delivery.document(withBody: try await store.posted(delivery)))
    }

    private func redeliver(_ context: RequestContext) async throws -> Response {
        try context.requireNoOptions()
        return .json(try await store.redeliver(Self.id(context)).document)
    }

    private static func id(_ context: RequestContext) -> DeliveryID { DeliveryID(context.parameter("id")) }
}

extension Webhook {
    /// - Parameter showsSecret: true only in the response that creates or replaces the secret.
    func document(_ statistics: WebhookStatistics, showsSecret: Bool = false) -> JSON {
        var document: JSONObject = [
            "name": .string(name.text), "session": .string(session.text), "url": .string(URLRule.redacted(url)),
            "events": .strings(events.map(\.text)), "header_names": .strings(headers.map(\.name)), "tls": tls.document,
            "reach": .string(reach.rawValue), "format": .string(format.rawValue),
            "signature": .strings(signatures.map(\.rawValue)), "state": .string(state.name.rawValue),
            "disabled_reason": .optional(state.reason), "created_at": .time(createdAt),
            "statistics": statistics.document,
        ]
        if showsSecret, let secret { document["secret"] = .string(secret.text) }
        return .object(document)
    }
}

extension WebhookStatistics {
    fileprivate var document: JSON {
        [
            "attempts": .count(attempts), "accepted": .count(accepted), "success_rate": .optional(successRate),
            "median_latency_seconds": .optional(medianLatency), "p95_latency_seconds": .optional(latency95),
            "pending": .count(pending), "oldest_pending_at": .optional(oldestPendingAt),
        ]
    }
}

extension Delivery {
    var document: JSON {
        [
            "id": .string(id.text), "webhook": .string(webhook.text), "session": .string(session.text),
            "event": .integer(event), "type": .string(type.rawValue), "state": .string(state.name.rawValue),
            "attempts": .array(attempts.map(\.document)), "next_attempt_at": .optional(nextAttemptAt),
            "blocked_by": .optional(blockedBy?.text),
        ]
    }
}

extension Delivery {
    /// The delivery with the heads of its requests and answers.
    ///
    /// - Parameter body: of each request; nil if the event was pruned.
    fileprivate func document(withBody body: JSON?) -> JSON {
        guard case .object(var whole) = document else { return document }
        whole["attempts"] = .array(attempts.map(\.wholeDocument))
        whole["body"] = body ?? .null
        return .object(whole)
    }
}

extension Delivery.Attempt {
    var document: JSON { .object(members) }

    fileprivate var wholeDocument: JSON {
        var whole = members
        whole["request"] =
            exchange.map { ["url": .string($0.url), "headers": .array($0.request.map(\.document))] } ?? .null
        whole["response_headers"] = exchange?.answer.map { .array($0.map(\.document)) } ?? .null
        return .object(whole)
    }

    private var members: JSONObject {
        [
            "at": .time(at), "status": .optional(status), "error": .optional(error),
            "latency_seconds": .number(latencySeconds), "response": .optional(response),
        ]
    }
}

extension HeaderField {
    fileprivate var document: JSON { ["name": .string(name), "value": .string(value)] }
}
