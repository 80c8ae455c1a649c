import ArgumentParser

struct NodesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "nodes",
        abstract: "Lists the nodes: the services that share a PostgreSQL database. Forgets those that never return.",
        discussion: """
            'fetchd nodes' is 'fetchd nodes list'. See docs/many-machines.md.

            EXAMPLES:
              fetchd nodes
              fetchd nodes forget 3
            """,
        subcommands: [NodesListCommand.self, NodesForgetCommand.self],
        defaultSubcommand: NodesListCommand.self)
}
