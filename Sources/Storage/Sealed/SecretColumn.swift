import Sealing

/// The columns that can hold secrets. `Sealer` describes the form of their texts.
enum SecretColumn: CaseIterable, Sendable {
    case jobSpec, jobPromotion, jobFinish
    case partURL
    case sessionConfiguration
    case webhookURL, webhookHeaders, webhookSecret, webhookFormerSecrets
    /// A BLOB with the bytes of the text.
    case idempotencyAnswer

    var table: String {
        switch self {
        case .jobSpec, .jobPromotion, .jobFinish: "jobs"
        case .partURL: "parts"
        case .sessionConfiguration: "sessions"
        case .webhookURL, .webhookHeaders, .webhookSecret, .webhookFormerSecrets: "webhooks"
        case .idempotencyAnswer: "idempotency_keys"
        }
    }

    var name: String {
        switch self {
        case .jobSpec: "spec"
        case .jobPromotion: "promotion"
        case .jobFinish: "finish"
        case .partURL, .webhookURL: "url"
        case .sessionConfiguration: "configuration"
        case .webhookHeaders: "headers"
        case .webhookSecret: "secret"
        case .webhookFormerSecrets: "former_secrets"
        case .idempotencyAnswer: "answer"
        }
    }

    /// The columns that identify a row. (The key of a webhook is not known before its row is written.)
    var identifiers: [String] {
        switch self {
        case .jobSpec, .jobPromotion, .jobFinish, .partURL, .sessionConfiguration: ["id"]
        case .webhookURL, .webhookHeaders, .webhookSecret, .webhookFormerSecrets: ["session", "name"]
        case .idempotencyAnswer: ["caller", "route", "key"]
        }
    }

    /// - Parameter row: the values of `identifiers`.
    func place(_ row: String...) -> SealedPlace { place(row) }

    func place(_ row: [String]) -> SealedPlace {
        SealedPlace(table: table, column: name, row: row.joined(separator: "\u{1F}"))
    }
}
