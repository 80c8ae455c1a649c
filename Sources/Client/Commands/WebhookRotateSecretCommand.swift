import ArgumentParser

struct WebhookRotateSecretCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate-secret", abstract: "Replaces the secret of a webhook.",
        discussion: """
            For 24 hours, fetchd signs each delivery with the old secret, too.

            EXAMPLES:
              fetchd webhook rotate-secret me
            """)

    @OptionGroup var webhook: WebhookSelection

    @Option(
        help: ArgumentHelp(
            "A file with the new secret; - reads standard input. (default: generated)", valueName: "file"),
        completion: .file())
    var secretFile: String?

    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        var body: JSONText?
        if let secretFile { body = .object([("secret", .string(try SecretFile.line(of: secretFile)))]) }
        let answer = try await service.send("POST", webhook.path("rotate-secret"), body.map { Array($0.bytes) })
        try WebhookDescription.show(answer, console)
    }
}
