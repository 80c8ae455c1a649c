import ArgumentParser

struct DeleteCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Forgets jobs; those under way are cancelled first.",
        discussion: """
            EXAMPLES:
              fetchd delete job_01HZX3K9V7Q2N4R8T6W0YB5CDE
              fetchd delete --with-file job_01HZX3K9V7Q2N4R8T6W0YB5CDE
            """,
        aliases: ["rm"])

    @Argument(help: "The jobs.", completion: .jobIDs)
    var ids: [String]

    @Flag(help: "Delete the finished file as well, instead of keeping it.")
    var withFile = false

    @OptionGroup(title: "The service")
    var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        var deleted: [JSONText] = []
        // Printed also where one of them refuses.
        defer { if console.isJSON { try? console.print(.object([("deleted", .array(deleted))])) } }
        try await BestEffort.run(on: ids, console) { id in
            _ = try await service.send("DELETE", RequestPath("jobs", id).asking("file", withFile ? "delete" : nil))
            deleted.append(.string(id))
            if !console.isJSON { try console.print("\(id) deleted") }
        }
    }
}
