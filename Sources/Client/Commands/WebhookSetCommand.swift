import ArgumentParser
import Foundation

struct WebhookSetCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Creates a webhook, or replaces its URL, events, headers and TLS settings.",
        discussion: """
            fetchd signs each delivery with the secret of the webhook. The command prints the secret only once, when it is \
            created.

            EXAMPLES:
              fetchd webhook set me https://example.org/hook
              fetchd webhook set me https://example.org/hook -s photos -e 'job.*'
              fetchd webhook set me https://example.org/hook -H 'X-Tenant: films'
            """)

    @OptionGroup var webhook: WebhookSelection

    @Argument(help: "The URL that fetchd posts the events to.")
    var address: String

    @Option(
        name: .shortAndLong, parsing: .singleValue,
        help: ArgumentHelp(
            "An event type or pattern that the webhook receives; repeatable. (default: session.*)", valueName: "type"))
    var event: [String] = []

    @Option(
        help: ArgumentHelp(
            "A file with the secret, whsec_...; - reads standard input. (default: generated)", valueName: "file"),
        completion: .file())
    var secretFile: String?

    @OptionGroup(title: "The endpoint") var endpoint: EndpointOptions
    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        var members: [(name: String, value: JSONText)] = [("url", .string(address))]
        members += try endpoint.members(for: address)
        if !event.isEmpty { members.append(("events", .array(event.map { .string($0) }))) }
        if let secretFile { members.append(("secret", .string(try SecretFile.line(of: secretFile)))) }
        let answer = try await service.send("PUT", webhook.path(), JSONText.object(members).bytes)
        try WebhookDescription.show(answer, console)
    }
}
