import ArgumentParser

struct NodesForgetCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget", abstract: "Removes a node that never returns.",
        discussion: """
            For a node whose machine or disk is lost. Its finished files are lost with it: requests for them are answered with \
            410. The service refuses to forget a node that runs, or whose jobs are not taken over yet. If the node comes back, \
            it is a new one, without the files in its folder.

            EXAMPLES:
              fetchd nodes forget 3
            """)

    @Argument(help: "The number of the node.") var number: Int64
    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        _ = try await service.send("DELETE", RequestPath("nodes", "\(number)"))
        try console.isJSON
            ? console.print(.object([("forgotten", .array([JSONText(JSONText.written(number))]))]))
            : console.print("node \(number) forgotten")
    }
}
