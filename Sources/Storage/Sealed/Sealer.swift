import Downloads
import Formats
import Foundation
import HTTPSemantics
import Sealing

/// Seals the texts of the columns that can hold secrets, and opens them.
///
/// A text without a secret is stored as it is. Otherwise the column has the text without its secrets, a line feed, the
/// sealed whole text, and a line feed. No other text of these columns ends with a line feed: JSON is written on one line,
/// and a URL has none.
package struct Sealer: Sendable {
    package let keys: Keyring

    package init(keys: Keyring) { self.keys = keys }

    /// - Parameter known: the text without its secrets.
    func seal(_ text: String, known: String, at place: SealContext) -> String {
        "\(known)\n\(keys.seal(text, at: place))\n"
    }

    /// The whole text of a column, or what is known of it without the key.
    ///
    /// - Throws: `sealBroken` if the sealed text was changed or moved.
    func open(_ stored: String, at place: @autoclosure () -> SealContext) throws -> (text: String, isLost: Bool) {
        guard Self.isSealed(stored) else { return (stored, false) }
        let (known, sealed) = Self.parts(of: stored)
        let place = place()
        switch keys.open(sealed, at: place) {
        case .text(let text): return (text, false)
        case .keyMissing: return (String(known), true)
        case .refused: throw StoreError.sealBroken(place: "\(place)")
        }
    }

    /// The same text, sealed with the current key; nil if it is not sealed, or if its key is lost.
    package func reseal(_ stored: String, at place: SealContext) throws -> String? {
        guard Self.isSealed(stored) else { return nil }
        let opened = try open(stored, at: place)
        return opened.isLost ? nil : seal(opened.text, known: String(Self.parts(of: stored).known), at: place)
    }

    static func isSealed(_ stored: String) -> Bool { stored.utf8.last == UInt8(ascii: "\n") }

    private static func parts(of stored: String) -> (known: Substring, sealed: Substring) {
        let text = stored.dropLast()
        guard let end = text.utf8.lastIndex(of: UInt8(ascii: "\n")) else { return ("", text) }
        return (text[..<end], text[text.utf8.index(after: end)...])
    }
}

extension Sealer {
    func text(_ spec: JobSpec, of job: JobID) throws -> String {
        try seal(
            RowCoding.text(spec), if: spec.holdsSecrets, known: RowCoding.text(spec.withoutSecrets),
            at: SecretColumn.jobSpec.place(job.text))
    }

    func text(_ promotion: FinalizePlan, of job: JobID) -> String {
        let hasSecret = promotion.receipt.holdsSecrets
        var known = promotion
        if hasSecret { known.receipt = known.receipt.withoutSecrets }
        return seal(
            RowCoding.text(promotion), if: hasSecret, known: RowCoding.text(known),
            at: SecretColumn.jobPromotion.place(job.text))
    }

    func text(_ finish: JobResult, of job: JobID) -> String {
        let hasSecret = finish.receipt.holdsSecrets
        var known = finish
        if hasSecret { known.receipt = known.receipt.withoutSecrets }
        return seal(
            RowCoding.text(finish), if: hasSecret, known: RowCoding.text(known),
            at: SecretColumn.jobFinish.place(job.text))
    }

    func url(_ url: String, of part: PartID) -> String {
        seal(url, if: URLRule.holdsSecret(url), known: URLRule.redacted(url), at: SecretColumn.partURL.place(part.text))
    }

    func text(_ configuration: SessionConfiguration, of session: Name) throws -> String {
        try seal(
            RowCoding.text(configuration), if: !configuration.secrets.isEmpty,
            known: RowCoding.text(configuration.withoutSecrets),
            at: SecretColumn.sessionConfiguration.place(session.text))
    }

    func url(_ url: String, ofWebhook name: Name, _ session: Name) -> String {
        seal(
            url, if: URLRule.holdsSecret(url), known: URLRule.redacted(url),
            at: SecretColumn.webhookURL.place(session.text, name.text))
    }

    /// The values of all headers, because an administrator declares them for the endpoint only.
    func text(_ headers: [HeaderField], ofWebhook name: Name, _ session: Name) throws -> String {
        let known = headers.map { HeaderField(name: $0.name, value: HeaderField.placeholder) }
        return try seal(
            RowCoding.text(headers), if: !headers.isEmpty, known: RowCoding.text(known),
            at: SecretColumn.webhookHeaders.place(session.text, name.text))
    }

    /// An empty text stands for a secret whose key is lost.
    func text(_ secret: WebhookSecret?, ofWebhook name: Name, _ session: Name) -> String {
        seal(
            secret?.text ?? "", if: secret != nil, known: "",
            at: SecretColumn.webhookSecret.place(session.text, name.text))
    }

    func text(_ secrets: [FormerSecret], ofWebhook name: Name, _ session: Name) throws -> String {
        try seal(
            WebhookRow.text(secrets), if: !secrets.isEmpty, known: "[]",
            at: SecretColumn.webhookFormerSecrets.place(session.text, name.text))
    }

    func privateKey(_ text: String, ofKey id: String) -> String {
        seal(text, known: "", at: SecretColumn.webhookKey.place(id))
    }

    private func seal(
        _ text: String, if hasSecret: Bool, known: @autoclosure () throws -> String,
        at place: @autoclosure () -> SealContext
    ) rethrows -> String {
        hasSecret ? seal(text, known: try known(), at: place()) : text
    }

    /// - Parameter holdsSecrets: whether the answer shows a URL with a query.
    func answer(_ body: [UInt8], to claim: IdempotencyClaim, holdsSecrets: Bool) -> Data {
        guard holdsSecrets else { return Data(body) }
        return Data(seal(String(decoding: body, as: UTF8.self), known: "", at: claim.place).utf8)
    }

    /// - Throws: `answerLost`.
    func answer(_ stored: Data, to claim: IdempotencyClaim) throws -> [UInt8] {
        guard stored.last == UInt8(ascii: "\n") else { return Array(stored) }
        let opened = try open(String(decoding: stored, as: UTF8.self), at: claim.place)
        guard !opened.isLost else { throw StoreError.answerLost(claim.key) }
        return Array(opened.text.utf8)
    }
}

extension IdempotencyClaim {
    fileprivate var place: SealContext { SecretColumn.idempotencyAnswer.place(caller, route, key) }
}

/// A column that can hold secrets. `Sealer` describes the form of its texts.
struct SecretColumn: Hashable, Sendable {
    let table: String
    let name: String
    let identifiers: [String]
    /// Whether it is a BLOB with the bytes of the text.
    let isBytes: Bool

    static let all: [SecretColumn] = Schema.tables.flatMap { table in
        table.columns.filter(\.isSealed).map { column in
            SecretColumn(
                table: table.name, name: column.name, identifiers: table.sealedBy, isBytes: column.kind == .bytes)
        }
    }

    static let jobSpec = column("spec", of: Schema.jobs)
    static let jobPromotion = column("promotion", of: Schema.jobs)
    static let jobFinish = column("finish", of: Schema.jobs)
    static let partURL = column("url", of: Schema.parts)
    static let sessionConfiguration = column("configuration", of: Schema.sessions)
    static let webhookURL = column("url", of: Schema.webhooks)
    static let webhookHeaders = column("headers", of: Schema.webhooks)
    static let webhookSecret = column("secret", of: Schema.webhooks)
    static let webhookFormerSecrets = column("former_secrets", of: Schema.webhooks)
    static let webhookKey = column("private_key", of: Schema.webhookKeys)
    static let idempotencyAnswer = column("answer", of: Schema.idempotencyKeys)

    private static func column(_ name: String, of table: Table) -> SecretColumn {
        guard let column = all.first(where: { $0.table == table.name && $0.name == name }) else {
            preconditionFailure("\(table.name).\(name) is not sealed")
        }
        return column
    }

    func place(_ row: String...) -> SealContext { place(row) }

    func place(_ row: [String]) -> SealContext {
        SealContext(table: table, column: name, row: row.joined(separator: "\u{1F}"))
    }
}
