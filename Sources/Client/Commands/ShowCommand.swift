import ArgumentParser

struct ShowCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows all there is to know of jobs.",
        discussion: """
            EXAMPLES:
              fetchd show job_01HZX3K9V7Q2N4R8T6W0YB5CDE
              fetchd show --json job_01HZX3K9V7Q2N4R8T6W0YB5CDE
            """)

    @Argument(help: "The jobs.", completion: .jobIDs)
    var ids: [String]

    @OptionGroup(title: "The service")
    var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        var answers: [Answer] = []
        for id in ids { answers.append(try await service.job(id)) }
        let documents = answers.map { JSONText($0.body) }
        if console.isJSON {
            return try console.print(ids.count == 1 ? documents[0] : .object([("jobs", .array(documents))]))
        }
        let sheets = try answers.map { Sheet(try $0.document(JobDocument.self)).text(on: console.outTerminal) }
        try console.out.write(sheets.joined(separator: "\n"))
    }
}
