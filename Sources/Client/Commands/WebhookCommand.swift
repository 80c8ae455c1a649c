import ArgumentParser
import Foundation

struct WebhookCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhook",
        abstract: "Declares and tests webhooks, and shows their deliveries.",
        discussion: """
            EXAMPLES:
              fetchd webhook set me https://example.org/hook --event session.finished
              fetchd webhook test me
              fetchd webhook deliveries me
            """,
        subcommands: [
            WebhookListCommand.self, WebhookShowCommand.self, WebhookSetCommand.self, WebhookDeleteCommand.self,
            WebhookTestCommand.self, WebhookRotateSecretCommand.self, WebhookRecoverCommand.self,
            WebhookEnableCommand.self, WebhookDeliveriesCommand.self, WebhookDeliveryCommand.self,
            WebhookRedeliverCommand.self,
        ])
}
