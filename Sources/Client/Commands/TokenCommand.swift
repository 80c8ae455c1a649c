import ArgumentParser

struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Creates, lists, rotates and revokes tokens of the API.",
        discussion: """
            These commands need an administrator's token, or no token on the machine of the service while no administrator has \
            one.

            EXAMPLES:
              fetchd token create films --scope jobs --expires 90d
              fetchd token list
              fetchd token revoke tok_01HZX3K9V7Q2N4R8T6W0YB5CDH
            """,
        subcommands: [
            TokenCreateCommand.self, TokenListCommand.self, TokenRotateCommand.self, TokenRevokeCommand.self,
        ])
}
