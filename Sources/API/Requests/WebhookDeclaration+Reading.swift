import Downloads
import HTTPSemantics
import Storage

/// Reads a webhook from the request of a client.
extension WebhookDeclaration {
    init(reading reader: inout FieldReader) throws(Problem) {
        let url = try reader.url("url")
        let events = try reader.eventPatterns("events")
        let headers = try reader.headers("headers", rule: \.faultInWebhook)
        let tls = try reader.object("tls", TLSRule.init(reading:)) ?? TLSRule()
        let secret = try reader.webhookSecret("secret")
        guard let url else { throw reader.missing("url", "the URL that events are posted to") }
        self.init(
            url: url, events: events ?? Webhook.defaultEvents, headers: headers ?? [], tls: tls, secret: secret)
        // Redirects are not followed, so a pin for another host would have no effect, without an error.
        if let host = tls.pinnedPublicKeys.keys.sorted().first(where: { $0 != URLRule.host(of: url) }) {
            let pointer = "/tls/pinned_public_keys/\(host)"
            throw Problem(.invalidValue, "\(FieldReader.shown(pointer)) is not the host of `url`.", at: pointer)
        }
    }
}

extension FieldReader {
    mutating func webhookSecret(_ name: String) throws(Problem) -> WebhookSecret? {
        guard let text = try string(name) else { return nil }
        guard let secret = WebhookSecret(text) else {
            throw invalid(name, "must be whsec_ and the base64 of 24 to 64 bytes; omit it to get a generated secret")
        }
        return secret
    }
}
