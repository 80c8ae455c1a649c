import Configuration
import CurlClient
import Downloads
import Webhooks

/// Whether webhooks are enabled and their endpoints can be reached.
struct WebhookFindings {
    let webhooks: [Webhook]
    let settings: Settings

    func all(_ asksEndpoints: Bool) async -> [Finding] {
        let findings = disabled + (asksEndpoints ? await unreachable() : [])
        guard findings.isEmpty else { return findings }
        guard !webhooks.isEmpty else { return [.ok(.webhooks, "There are no webhooks.")] }
        let isOne = webhooks.count == 1
        let count = isOne ? "1 webhook is enabled" : "\(webhooks.count) webhooks are enabled"
        let answer = isOne ? "its host answers" : "their hosts answer"
        let unasked = isOne ? "its host was not asked" : "their hosts were not asked"
        return [
            .ok(
                .webhooks,
                "\(count), and \(asksEndpoints ? answer : unasked)."
            )
        ]
    }

    private var disabled: [Finding] {
        webhooks.compactMap { webhook in
            guard case .disabled(let reason) = webhook.state else { return nil }
            return .warning(
                .webhooks, "The webhook \(webhook.name) of session \(webhook.session) is disabled. \(reason)",
                "Correct the endpoint, and run: fetchd webhook enable \(webhook.name) --session \(webhook.session)")
        }
    }

    /// The service asks them with the same rules for addresses.
    private func unreachable() async -> [Finding] {
        let enabled = webhooks.filter { if case .enabled = $0.state { true } else { false } }
        guard !enabled.isEmpty else { return [] }
        let policies = DestinationPolicies(settings.start.values)
        var options = CurlClient.Options()
        options.admitsAddress = policies.webhooks.admits
        guard let client = try? CurlClient(options: options) else {
            return [.skipped(.webhooks, "The hosts of the webhooks could not be asked.", "Run the command again.")]
        }
        let probe = EndpointProbe(client: client, publicAddresses: policies.limitedWebhooks)
        var findings: [Finding] = []
        for webhook in enabled {
            guard let fault = await probe.fault(of: webhook) else { continue }
            findings.append(
                .warning(
                    .webhooks,
                    "The endpoint of the webhook \(webhook.name) of session \(webhook.session) cannot be reached: \(fault).",
                    "Start the consumer, or correct the address or the network. Deliveries are repeated for days."))
        }
        await client.shutdown()
        return findings
    }
}
