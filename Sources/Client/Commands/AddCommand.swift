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

            With --json one URL is one document; several, and whatever --input or - lists, are {"jobs": [...]}.

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
        if waiting.timeout != nil, !wait, save == nil {
            throw ValidationError("--timeout is for --wait and --save.")
        }
    }

    func perform(with service: RemoteService, _ console: Console) async throws {
        let urls = try URLList.gathered(urls, input: input)
        try check(urls)
        let deadline = Deadline(seconds: waiting.timeout)
        let submission = Submission(urls.map { job.document($0.text) }, isBatch: isList || urls.count > 1)
        let isWaiting = wait || save != nil
        let (position, added) = try await deadline.limiting {
            do {
                // First where the journal ends: what happens from then on is not missed.
                let position = isWaiting ? try await service.lastEvent() : nil
                return (position, try await submission.send(to: service))
            } catch let error as ClientError {
                throw error.naming(urls)
            }
        }
        guard let position else { return try announce(added, console) }
        try await follow(added, from: position, deadline, service, console)
    }

    /// How many a list holds, the caller need not know: the shape of what is printed does not depend on it.
    private var isList: Bool { input != nil || urls.contains("-") }

    /// Whatever can be known here is known before anything is added.
    private func check(_ urls: [ListedURL]) throws(ClientError) {
        guard !urls.isEmpty else {
            throw ClientError(.missing, "There is nothing to download", "The input holds no URL; nothing was added.")
        }
        if urls.count > 1, job.concernsOneFile {
            throw ClientError(
                .misused, "One file, several URLs",
                "--out with a file's name, --checksum and --mirror are for one URL. End --out with / to name a folder.")
        }
        guard let save else { return }
        if urls.count > 1, !save.hasSuffix("/"), !LocalFile.isFolder(save) {
            throw ClientError(
                .misused, "One place, several URLs",
                "--save takes a folder where there are several URLs, and \(Printable(save)) is none. Nothing was added."
            )
        }
        try LocalFile.requireRoom(at: save)
    }

    private func announce(_ added: AddedJobs, _ console: Console) throws {
        if console.isJSON { return try console.print(added.text) }
        for job in added.jobs { try console.print(job.id) }
    }

    /// To the end, or as far as it goes: what became of the jobs is told in any case.
    private func follow(
        _ added: AddedJobs, from position: Int64, _ deadline: Deadline, _ service: RemoteService, _ console: Console
    ) async throws {
        let run = WatchRun(service: service, console: console, isQuiet: waiting.quiet, deadline: deadline)
        let outcome = await run.watch(.jobs(added.jobs), after: position)
        let done = outcome.tracker.jobs.filter(\.hasSucceeded)
        var trouble = outcome.trouble
        if let save, trouble == nil {
            trouble = await SavedFiles(service: service, console: console, place: save, deadline: deadline).fetch(done)
        } else if save == nil, !console.isJSON, run.leavesPathsUntold {
            for job in done { try console.print(job.file?.path ?? job.name) }
        }
        if console.isJSON {
            let ending = FinalDocuments(added: added, tracker: outcome.tracker, isHasty: trouble != nil)
            try console.print(added.text(of: await ending.documents(from: service)))
        }
        if let trouble { throw trouble }
        if !outcome.tracker.haveAllSucceeded { throw ExitCode.downloadFailed }
    }
}
