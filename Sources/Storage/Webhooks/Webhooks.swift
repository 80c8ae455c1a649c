import Downloads
import Formats
import Foundation
import HTTPSemantics

/// A client's description of a webhook. It replaces an earlier one as a whole, except for the secret.
public struct WebhookDeclaration: Sendable, Equatable {
    public var url: String
    public var events: [EventPattern]
    public var headers: [HeaderField]
    public var tls: TLSRule
    public var format: WebhookFormat
    public var signatures: [WebhookSignatureScheme]
    /// nil keeps the existing secret, or makes one for a new webhook.
    public var secret: WebhookSecret?

    public init(
        url: String, events: [EventPattern] = Webhook.defaultEvents, headers: [HeaderField] = [],
        tls: TLSRule = TLSRule(), format: WebhookFormat = .standard, signatures: [WebhookSignatureScheme] = [.v1],
        secret: WebhookSecret? = nil
    ) {
        self.url = url
        self.events = events
        self.headers = headers
        self.tls = tls
        self.format = format
        self.signatures = signatures
        self.secret = secret
    }

    /// Answers show the URL of a webhook without user and query. A client that sends this form back does not change the URL.
    ///
    /// - Throws: `webhookSecretsLost` if the stored URL is lost.
    func keepingURL(of existing: Webhook?) throws(StoreError) -> WebhookDeclaration {
        guard let existing, url == URLRule.redacted(existing.url), URLRule.isRedacted(url) || url != existing.url else {
            return self
        }
        guard !existing.lost.contains(.url) else { throw .webhookSecretsLost(existing.name, [.url]) }
        var declaration = self
        declaration.url = existing.url
        return declaration
    }
}

/// Where a page of the list of all webhooks ends.
public struct WebhookPosition: Sendable, Equatable {
    public let session: Name
    public let name: Name

    public init(_ session: Name, _ name: Name) { (self.session, self.name) = (session, name) }
}

extension Store {
    /// Creates a webhook of a session, or replaces the description of an existing one. A disabled webhook is
    /// enabled again. If the address, the headers, the TLS settings or the reach change, pending deliveries are sent at
    /// once, as the new declaration says. Events that were committed before the webhook existed are not sent to it.
    ///
    /// A URL in its redacted form keeps the stored URL.
    ///
    /// - Parameter reach: the addresses that the caller may post to. It replaces the reach of an existing webhook.
    /// - Returns: `hasNewSecret`: the webhook had no secret before, because it is new or the secret was lost.
    /// - Throws: `noSuchSession`; `webhookSecretsLost` if the URL is in its redacted form and the stored URL is lost.
    public func declareWebhook(
        _ name: Name, of session: Name, as declaration: WebhookDeclaration, reaching reach: WebhookReach = .any,
        audit note: AuditNote? = nil
    ) async throws -> (webhook: Webhook, isNew: Bool, hasNewSecret: Bool) {
        try await writer.write { transaction in
            try transaction.audit(note)
            _ = try transaction.session(session)
            let existing = try transaction.webhook(name, of: session)
            try transaction.store(declaration.keepingURL(of: existing), name, of: session, reach, replacing: existing)
            try transaction.noteConsumer(of: session)
            let webhook = try transaction.existingWebhook(name, of: session)
            if let existing, !webhook.reaches(asDoes: existing) { try transaction.releaseDeliveries(to: webhook.key) }
            return (webhook, existing == nil, existing?.secret == nil)
        }
    }

    /// - Throws: `noSuchSession`, `noSuchWebhook`.
    public func webhook(_ name: Name, of session: Name) async throws(StoreError) -> Webhook {
        guard let webhook = try await webhooks(of: session).first(where: { $0.name == name }) else {
            throw .noSuchWebhook(name)
        }
        return webhook
    }

    /// All webhooks of a session, ordered by name.
    /// - Throws: `noSuchSession`.
    public func webhooks(of session: Name) async throws(StoreError) -> [Webhook] {
        let webhooks: [Webhook]? = try await read { [sealer] db in
            let found = try db.value("SELECT 1 FROM sessions WHERE id = ?", [session.text], as: Int.self)
            guard found != nil else { return nil }
            return try db.rows("SELECT * FROM webhooks WHERE session = ? ORDER BY name", [session.text]).map {
                try WebhookRow.webhook($0, sealer)
            }
        }
        guard let webhooks else { throw .noSuchSession(session) }
        return webhooks
    }

    /// The webhooks of all visible sessions, ordered by session and name.
    ///
    /// - Parameter position: the webhook after which the page begins; nil: the first page.
    public func webhooks(
        visible: VisibleSessions, after position: WebhookPosition?, limit: Int
    ) async throws(StoreError) -> [Webhook] {
        var conditions = SQLConditions(
            "(session, name) > (?, ?)", position?.session.text ?? "", position?.name.text ?? "")
        conditions.add(visible, on: "session")
        let sql = "SELECT * FROM webhooks WHERE \(conditions.sql) ORDER BY session, name LIMIT ?"
        let arguments = conditions.arguments + [limit]
        return try await read { [sealer] db in try db.rows(sql, arguments).map { try WebhookRow.webhook($0, sealer) } }
    }

    /// Disables the webhooks whose secrets were sealed with a lost key: without them, a request could only fail. Call it before
    /// deliveries are sent.
    ///
    /// - Returns: the number of webhooks that were enabled.
    public func disableWebhooksWithoutSecrets() async throws -> Int {
        try await writer.write { transaction in
            try transaction.rows("SELECT * FROM webhooks WHERE state = 'enabled'").count {
                let webhook = try WebhookRow.webhook($0, transaction.sealer)
                return try !webhook.lost.isEmpty && transaction.transitionWebhook(webhook.key, on: .secretsLost)
            }
        }
    }

    /// Cancels the pending deliveries as well.
    ///
    /// - Throws: `noSuchSession`, `noSuchWebhook`.
    public func deleteWebhook(_ name: Name, of session: Name, audit note: AuditNote? = nil) async throws {
        try await writer.write { transaction in
            let webhook = try transaction.existingWebhook(name, of: session)
            try transaction.cancelDeliveries(to: webhook.key)
            try transaction.run("DELETE FROM webhooks WHERE key = ?", [webhook.key])
            transaction.working.subscriptions.forget(session)
            try transaction.audit(note)
        }
    }
}

extension Transaction {
    func webhook(_ name: Name, of session: Name) throws -> Webhook? {
        try row("SELECT * FROM webhooks WHERE session = ? AND name = ?", [session.text, name.text])
            .map { try WebhookRow.webhook($0, sealer) }
    }

    func webhook(_ key: Int64) throws -> Webhook? {
        try row("SELECT * FROM webhooks WHERE key = ?", [key]).map { try WebhookRow.webhook($0, sealer) }
    }

    /// - Throws: `noSuchSession`, `noSuchWebhook`.
    func existingWebhook(_ name: Name, of session: Name) throws -> Webhook {
        _ = try self.session(session)
        guard let webhook = try webhook(name, of: session) else { throw StoreError.noSuchWebhook(name) }
        return webhook
    }

    fileprivate func store(
        _ declaration: WebhookDeclaration, _ name: Name, of session: Name, _ reach: WebhookReach,
        replacing existing: Webhook?
    ) throws {
        try run(
            """
            INSERT INTO webhooks
                (session, name, url, events, headers, tls, reach, format, signatures, secret, state, created_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'enabled', ?)
            ON CONFLICT (session, name) DO UPDATE SET url = excluded.url, events = excluded.events,
                headers = excluded.headers, tls = excluded.tls, reach = excluded.reach, format = excluded.format,
                signatures = excluded.signatures, secret = excluded.secret,
                state = 'enabled', disabled_reason = NULL, failing_since = NULL
            """,
            [
                session.text, name.text, sealer.url(declaration.url, ofWebhook: name, session),
                WebhookRow.text(declaration.events), try sealer.text(declaration.headers, ofWebhook: name, session),
                try RowCoding.text(declaration.tls), reach.rawValue, declaration.format.rawValue,
                declaration.signatures.map(\.rawValue).joined(separator: " "),
                sealer.text(declaration.secret ?? existing?.secret ?? .random(), ofWebhook: name, session),
                now.milliseconds,
            ])
        if declaration.signatures.contains(.v1a) { try requireWebhookKey() }
        working.subscriptions.forget(session)
    }

    /// Writes the fields that signals and secret rotations change.
    func update(_ webhook: Webhook) throws {
        try run(
            """
            UPDATE webhooks SET secret = ?, former_secrets = ?, state = ?, disabled_reason = ?, failing_since = ?
            WHERE key = ?
            """,
            [
                sealer.text(webhook.secret, ofWebhook: webhook.name, webhook.session),
                try sealer.text(webhook.formerSecrets, ofWebhook: webhook.name, webhook.session),
                webhook.state.name.rawValue, webhook.state.reason, webhook.state.failingSince?.milliseconds,
                webhook.key,
            ])
        working.subscriptions.forget(webhook.session)
    }

    /// Applies a signal to the state machine of the webhook. If that disables the webhook, its pending deliveries are
    /// cancelled and `webhook.disabled` is appended.
    /// The result says whether the state has changed.
    @discardableResult
    func transitionWebhook(_ key: Int64, on signal: WebhookSignal) throws -> Bool {
        guard var webhook = try webhook(key), let next = webhook.state.transition(on: signal) else { return false }
        webhook.state = next
        try update(webhook)
        if let reason = next.reason {
            try cancelDeliveries(to: key)
            let data: JSONObject = ["webhook": .string(webhook.name.text), "reason": .string(reason)]
            try append([NewEvent(.webhookDisabled, in: webhook.session, data: data)])
        }
        return true
    }

    fileprivate func cancelDeliveries(to webhook: Int64) throws {
        let cancelled = try changedRows(
            "UPDATE deliveries SET state = 'cancelled', next_attempt_at = NULL WHERE webhook = ? AND state = 'pending'",
            [webhook])
        countDeliveries(cancelled, from: .pending, to: .cancelled)
        wake(.sessions)
    }
}

enum WebhookRow {
    static func webhook(_ row: SQLRow, _ sealer: Sealer) throws -> Webhook {
        let url = try opened(row, .webhookURL, sealer)
        let headers = try opened(row, .webhookHeaders, sealer)
        let secret = try opened(row, .webhookSecret, sealer)
        let formerSecrets = try opened(row, .webhookFormerSecrets, sealer).text ?? "[]"
        var lost: Set<SecretMember> = []
        if url.isLost { lost.insert(.url) }
        if headers.isLost { lost.insert(.headers) }
        if secret.isLost || secret.text == "" { lost.insert(.secret) }
        var webhook = try Webhook(
            key: row["key"], session: Name(trusted: row["session"]), name: Name(trusted: row["name"]),
            url: url.text ?? "", events: patterns(row["events"]),
            headers: try headers.text.map { try RowCoding.value([HeaderField].self, from: $0) } ?? [],
            tls: try row.decoded("tls", default: TLSRule()), reach: try row.named("reach", as: WebhookReach.self),
            secret: lost.contains(.secret) ? nil : try self.secret(secret.text ?? "", of: row),
            formerSecrets: try RowCoding.value([StoredSecret].self, from: formerSecrets).compactMap { stored in
                WebhookSecret(stored.secret).map { FormerSecret($0, until: Date(milliseconds: stored.until)) }
            }, state: try state(row),
            createdAt: row.time("created_at"), lost: lost)
        webhook.format = try row.named("format", as: WebhookFormat.self)
        webhook.signatures = (try row["signatures"] as String).split(separator: " ").compactMap {
            WebhookSignatureScheme(rawValue: String($0))
        }
        return webhook
    }

    private static func opened(
        _ row: SQLRow, _ column: SecretColumn, _ sealer: Sealer
    ) throws -> (text: String?, isLost: Bool) {
        guard let text: String = try row[column.name] else { return (nil, false) }
        let (session, name): (String, String) = try (row["session"], row["name"])
        let opened = try sealer.open(text, at: column.place(session, name))
        return (opened.text, opened.isLost)
    }

    private static func secret(_ text: String, of row: SQLRow) throws -> WebhookSecret {
        guard let secret = WebhookSecret(text) else {
            throw StoreError.failed(why: "the secret of webhook \(try row["name"] as String) cannot be read")
        }
        return secret
    }

    static func text(_ secrets: [FormerSecret]) throws -> String {
        try RowCoding.text(secrets.map { StoredSecret(secret: $0.secret.text, until: $0.until.milliseconds) })
    }

    private struct StoredSecret: Codable {
        var secret: String
        /// Milliseconds since 1970.
        var until: Int64
    }

    static func patterns(_ text: String) -> [EventPattern] {
        text.split(separator: " ").map { EventPattern(trusted: String($0)) }
    }

    static func text(_ patterns: [EventPattern]) -> String { patterns.map(\.text).joined(separator: " ") }

    private static func state(_ row: SQLRow) throws -> Webhook.State {
        switch try row.named("state", as: Webhook.State.Kind.self) {
        case .enabled: try .enabled(failingSince: row.optionalTime("failing_since"))
        case .disabled: try .disabled(reason: row["disabled_reason"])
        }
    }
}

struct WebhookSubscription: Sendable {
    let key: Int64
    let name: String
    let patterns: [EventPattern]

    func includes(_ type: EventType) -> Bool { patterns.contains { $0.matches(type) } }
}
