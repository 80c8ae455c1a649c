import ArgumentParser
import Foundation

struct WebhookDeleteCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Deletes a webhook and cancels its pending deliveries.",
        discussion: """
            EXAMPLES:
              fetchd webhook delete me
            """, aliases: ["rm"])

    @OptionGroup var webhook: WebhookSelection
    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        _ = try await service.send("DELETE", webhook.path())
        try console.isJSON
            ? console.print(.object([("deleted", .array([.string(webhook.name)]))]))
            : console.print("\(webhook.name) deleted")
    }
}
