import Downloads
import Formats
import Foundation
import HTTPSemantics
import Sealing

/// The text of each column, sealed if it has a secret.
extension Sealer {
    func text(_ spec: JobSpec, of job: JobID) throws -> String {
        let text = try Stored.text(spec)
        guard spec.holdsSecrets else { return text }
        return seal(text, known: try Stored.text(spec.withoutSecrets), at: SecretColumn.jobSpec.place(job.text))
    }

    func text(_ promotion: Promotion, of job: JobID) -> String {
        let text = Stored.text(promotion)
        guard promotion.receipt.holdsSecrets else { return text }
        var known = promotion
        known.receipt = promotion.receipt.withoutSecrets
        return seal(text, known: Stored.text(known), at: SecretColumn.jobPromotion.place(job.text))
    }

    func text(_ finish: Finish, of job: JobID) -> String {
        let text = Stored.text(finish)
        guard finish.receipt.holdsSecrets else { return text }
        var known = finish
        known.receipt = finish.receipt.withoutSecrets
        return seal(text, known: Stored.text(known), at: SecretColumn.jobFinish.place(job.text))
    }

    func url(_ url: String, of part: PartID) -> String {
        guard URLRule.holdsSecret(url) else { return url }
        return seal(url, known: URLRule.redacted(url), at: SecretColumn.partURL.place(part.text))
    }

    func text(_ configuration: SessionConfiguration, of session: Name) throws -> String {
        let text = try Stored.text(configuration)
        guard !configuration.secrets.isEmpty else { return text }
        return seal(
            text, known: try Stored.text(configuration.withoutSecrets),
            at: SecretColumn.sessionConfiguration.place(session.text))
    }

    func url(_ url: String, ofWebhook name: Name, _ session: Name) -> String {
        guard URLRule.holdsSecret(url) else { return url }
        return seal(url, known: URLRule.redacted(url), at: SecretColumn.webhookURL.place(session.text, name.text))
    }

    /// The values of all headers, because an administrator declares them for the endpoint only.
    func text(_ headers: [HeaderField], ofWebhook name: Name, _ session: Name) throws -> String {
        let text = try Stored.text(headers)
        guard !headers.isEmpty else { return text }
        let known = headers.map { HeaderField(name: $0.name, value: HeaderField.placeholder) }
        return seal(
            text, known: try Stored.text(known), at: SecretColumn.webhookHeaders.place(session.text, name.text))
    }

    /// An empty text stands for a secret whose key is lost.
    func text(_ secret: WebhookSecret?, ofWebhook name: Name, _ session: Name) -> String {
        guard let secret else { return "" }
        return seal(secret.text, known: "", at: SecretColumn.webhookSecret.place(session.text, name.text))
    }

    func text(_ secrets: [FormerSecret], ofWebhook name: Name, _ session: Name) throws -> String {
        let text = try WebhookRow.text(secrets)
        guard !secrets.isEmpty else { return text }
        return seal(text, known: "[]", at: SecretColumn.webhookFormerSecrets.place(session.text, name.text))
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
    fileprivate var place: SealedPlace { SecretColumn.idempotencyAnswer.place(caller, route, key) }
}
