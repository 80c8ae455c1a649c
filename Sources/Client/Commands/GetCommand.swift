import ArgumentParser

struct GetCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Copies the finished file of a job to this machine.",
        discussion: """
            Writes the file to standard output, unless that is a terminal. With -o, writes to a folder, a file, a device or a \
            pipe. If the connection breaks, the command continues from the last byte. It compares size and sha-256 with \
            those that the service has stored, and fails if they differ.

            EXAMPLES:
              fetchd get job_01HZX3K9V7Q2N4R8T6W0YB5CDE > image.iso
              fetchd get -o image.iso job_01HZX3K9V7Q2N4R8T6W0YB5CDE
              fetchd get -o . job_01HZX3K9V7Q2N4R8T6W0YB5CDE
            """)

    @Argument(help: "The identifier of the job.", completion: .jobIDs)
    var id: String

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "A folder, a file, or - for standard output. An existing file is replaced once the copy is complete.",
            valueName: "path"), completion: .file())
    var output: String?

    @OptionGroup(title: "The service")
    var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        if output == nil, console.outTerminal.isInteractive {
            throw ClientError(
                .misused, "The file is not for a terminal",
                "The file is not written to a terminal. Choose a destination: fetchd get -o PATH \(id), or fetchd get \(id) > FILE."
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
