import ArgumentParser

struct TokenListCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists all tokens, the oldest first.",
        discussion: """
            The secrets are not shown, because the service does not store them.

            EXAMPLES:
              fetchd token list
            """, aliases: ["ls"])

    @Flag(name: .shortAndLong, help: "Print only identifiers.")
    var quiet = false

    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        let answer = try await service.send("GET", RequestPath("tokens"))
        let tokens = try answer.document(TokenListDocument.self).tokens
        if console.isJSON { return try console.print(JSONText(answer.body)) }
        if quiet { return try console.out.write(tokens.map { $0.id + "\n" }.joined()) }
        if tokens.isEmpty { return console.say("No tokens. To create one: fetchd token create --scope admin") }
        var table = Table(
            .init(title: "TOKEN"), .init(title: "NAME"), .init(title: "SCOPE"),
            .init(title: "LAST USED", isDispensable: true), .init(title: "EXPIRES"), .init(title: "SESSIONS"))
        for token in tokens {
            table.add(
                .init(token.id), .init(token.name ?? ""), .init(token.scope),
                .init(token.lastUsedAt.map(DisplayFormat.time) ?? "never"),
                .init(token.expiresAt.map(DisplayFormat.time) ?? "never"),
                .init(token.sessions?.joined(separator: ", ") ?? "all"))
        }
        try console.print(table)
    }
}
