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
        var refusal: ExitCode?
        do {
            try await BestEffort.run(on: ids, console) { answers.append(try await service.job($0)) }
        } catch let exit as ExitCode {
            refusal = exit
        }
        // Those that are there are shown also where others are not.
        try show(answers, console)
        if let refusal { throw refusal }
    }

    private func show(_ answers: [Answer], _ console: Console) throws {
        if console.isJSON {
            let documents = answers.map { JSONText($0.body) }
            guard ids.count == 1 else { return try console.print(.object([("jobs", .array(documents))])) }
            for document in documents { try console.print(document) }
            return
        }
        let sheets = try answers.map { Sheet(try $0.document(JobDocument.self)).text(on: console.outTerminal) }
        try console.out.write(sheets.joined(separator: "\n"))
    }
}
