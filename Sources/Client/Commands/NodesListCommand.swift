import ArgumentParser

struct NodesListCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the nodes, by number.",
        discussion: """
            STATE is running, draining (it stops, and hands its jobs over), away (its lease has ended, so that the others take \
            its jobs over), or stopped. LEASE is the time until its lease ends, unless it is renewed. The marks are * for the \
            node that has answered, and the word leader for the one that does what one node does for all. A service with an \
            SQLite database is its only node. See docs/many-machines.md.

            EXAMPLES:
              fetchd nodes list
              fetchd nodes list --json
            """, aliases: ["ls"])

    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        let answer = try await service.send("GET", RequestPath("nodes"))
        let nodes = try answer.document(NodeListDocument.self).nodes
        if console.isJSON { return try console.print(JSONText(answer.body)) }
        var table = Table(
            .init(title: "NODE"), .init(title: "STATE"), .init(title: "ROLE"),
            .init(title: "RUNNING", isRightAligned: true), .init(title: "SLOTS", isRightAligned: true),
            .init(title: "LEASE", isRightAligned: true), .init(title: "VERSION", isDispensable: true),
            .init(title: "URL"))
        for node in nodes {
            table.add(
                .init("\(node.number)\(node.isSelf ? " *" : "")"), .init(node.state),
                .init(node.isLeader ? "leader" : ""), .init("\(node.running)"), .init("\(node.slots)"),
                .init(node.leaseExpiresInSeconds.map { "\(Int($0.rounded(.down))) s" } ?? "-"), .init(node.version),
                .init(node.url ?? "-"))
        }
        try console.print(table)
    }
}
