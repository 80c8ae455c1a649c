import ArgumentParser

struct TokenRevokeCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Deletes a token. The service refuses it from now on.",
        discussion: """
            EXAMPLES:
              fetchd token revoke tok_01HZX3K9V7Q2N4R8T6W0YB5CDH
              fetchd token revoke laptop
            """, aliases: ["rm"])

    @Argument(help: "The identifier or the name of the token.", completion: .tokenIDs) var token: String
    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        let id = try await service.tokenID(token)
        _ = try await service.send("DELETE", RequestPath("tokens", id))
        try console.isJSON
            ? console.print(.object([("revoked", .array([.string(id)]))]))
            : console.print("\(id) revoked")
    }
}
