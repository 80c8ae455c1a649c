import ArgumentParser

struct GetCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Fetches the finished file of a job to here.",
        discussion: """
            Writes to standard output, unless that is a terminal; with -o also into a device or a pipe. A connection that breaks is gone on with; size and \
            sha-256 are compared with what the service has noted, and where they differ the command fails.

            EXAMPLES:
              fetchd get job_01HZX3K9V7Q2N4R8T6W0YB5CDE > image.iso
              fetchd get -o image.iso job_01HZX3K9V7Q2N4R8T6W0YB5CDE
              fetchd get -o . job_01HZX3K9V7Q2N4R8T6W0YB5CDE
            """)

    @Argument(help: "The job.", completion: .jobIDs)
    var id: String

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Where to: a folder, a file, which is replaced when all is here, or - for standard output.",
            valueName: "path"), completion: .file())
    var output: String?

    @OptionGroup(title: "The service")
    var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        if output == nil, console.outTerminal.isInteractive {
            throw ClientError(
                .misused, "The file is not for a terminal",
                "The file is not for a terminal. Say where to put it: fetchd get -o PATH \(id), or fetchd get \(id) > FILE."
            )
        }
        let answer = try await service.job(id)
        let job = try answer.document(JobDocument.self)
        try await Interruption.cancelling {
            let download = FileDownload(service, job)
            guard let output, output != "-" else {
                return try await download.write { try console.out.write($0) }
            }
            guard let file = try await download.save(to: output) else { return }
            try console.isJSON ? console.print(JSONText(answer.body)) : console.print(file)
        }
    }
}
