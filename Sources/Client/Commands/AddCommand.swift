import ArgumentParser
import Foundation

struct AddCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Submits downloads, and waits for them if asked to.",
        discussion: """
            Prints the identifiers of the jobs, one a line; with --wait the paths of the files, below the service's \
            downloads folder, when they are there, and with --save where they are here. Several URLs are one batch: all \
            are taken, or none. A lost answer is asked for again without adding anything twice.

            --wait ends with 0 when every download has succeeded, else with 1, and then says why: failure code, message \
            and HTTP status. It waits through restarts of the service. Ctrl-C ends the waiting, not the downloads.

            EXAMPLES:
              fetchd add https://example.org/image.iso
              fetchd add --wait --out images/today.iso https://example.org/image.iso
              fetchd add --save . https://example.org/image.iso
              fetchd add -s photos https://example.org/1.jpg https://example.org/2.jpg
              fetchd add --wait --quiet --input urls.txt
            """)

    @Argument(help: "What to download; - reads URLs from standard input, one a line.")
    var urls: [String] = []

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("A file with URLs, one a line; empty lines and # comments are skipped.", valueName: "file"),
        completion: .file())
    var input: String?

    @OptionGroup(title: "What is downloaded")
    var job: NewJobOptions

    @Flag(name: .shortAndLong, help: "Wait until the downloads are over.")
    var wait = false

    @Option(
        help: ArgumentHelp(
            "Wait, and then put the files here: into a folder, or under a name. What is there is replaced.",
            valueName: "path"), completion: .file())
    var save: String?

    @OptionGroup(title: "Waiting")
    var waiting: WaitingOptions

    @OptionGroup(title: "The service")
    var service: ServiceOptions

    func validate() throws {
        guard !urls.isEmpty || input != nil else {
            throw ValidationError("Say what to download: a URL, several, or --input FILE.")
        }
        if let save, !save.hasSuffix("/"), save != ".", urls.count > 1, !Self.isFolder(save) {
            throw ValidationError("--save takes a folder where there are several URLs, and \(save) is none.")
        }
        if waiting.timeout != nil, !wait, save == nil {
            throw ValidationError("--timeout is for --wait and --save.")
        }
    }

    private static func isFolder(_ path: String) -> Bool {
        (try? URL(filePath: path).resourceValues(forKeys: [.isDirectoryKey]))?.isDirectory ?? false
    }

    func perform(with service: RemoteService, _ console: Console) async throws {
        let urls = try URLList.gathered(urls, input: input)
        guard !urls.isEmpty else {
            throw ClientError(.missing, "There is nothing to download", "The input holds no URL; nothing was added.")
        }
        if urls.count > 1, job.concernsOneFile {
            throw ClientError(
                .misused, "One file, several URLs",
                "--out with a file's name, --checksum and --mirror are for one URL. End --out with / to name a folder.")
        }
        let position = wait || save != nil ? try await service.lastEvent() : nil
        let added = try await Submission(urls.map(job.document)).send(to: service)
        guard let position else { return try announce(added, console) }
        try await follow(added, from: position, service, console)
    }

    private static func document(of id: String, _ service: RemoteService) async throws(ClientError) -> JSONText {
        do {
            return JSONText(try await service.job(id).body)
        } catch {
            guard error.status == .missing else { throw error }
            return .null
        }
    }

    private func announce(_ added: AddedJobs, _ console: Console) throws {
        if console.isJSON { return try console.print(added.text) }
        for job in added.jobs { try console.print(job.id) }
    }

    private func follow(
        _ added: AddedJobs, from position: Int64, _ service: RemoteService, _ console: Console
    ) async throws {
        let run = WatchRun(service: service, console: console, options: waiting)
        let board = try await run.watch(.jobs(added.jobs), after: position)
        let done = board.jobs.filter(\.hasSucceeded)
        if let save {
            try await fetch(done, to: save, service, console)
        } else if !console.isJSON, run.leavesPathsUntold {
            for job in done { try console.print(job.file?.path ?? job.name) }
        }
        if console.isJSON { try await printJSON(added, service, console) }
        if !board.haveAllSucceeded { throw ExitCode.downloadFailed }
    }

    private func fetch(
        _ jobs: [JobDocument], to place: String, _ service: RemoteService, _ console: Console
    ) async throws {
        try await Interruption.cancelling {
            for job in jobs {
                let file = try await FileDownload(service, job).save(to: place)
                if !console.isJSON { try console.print(file) }
            }
        }
    }

    /// As they are in the end, in the order asked for; null for one that somebody has deleted.
    private func printJSON(_ added: AddedJobs, _ service: RemoteService, _ console: Console) async throws {
        var documents: [JSONText] = []
        for job in added.jobs { documents.append(try await Self.document(of: job.id, service)) }
        try console.print(added.isBatch ? .object([("jobs", .array(documents))]) : documents[0])
    }
}
