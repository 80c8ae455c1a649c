import ArgumentParser
import Foundation

struct AddCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Submits downloads, and can wait for them.",
        discussion: """
            Prints the identifiers of the jobs, one on each line. With --wait, prints the paths of the finished files, \
            relative to the service's downloads folder. With --save, prints the paths of the local copies. Several URLs are \
            added together: either all of them, or none. If the answer of the service is lost, the command repeats the \
            request; nothing is added twice.

            --wait exits with status 0 if every download has succeeded. Otherwise it exits with status 1 and prints failure \
            code, message and HTTP status. It continues to wait while the service restarts. Ctrl-C ends the command, not the \
            downloads.

            With --json, one URL gives one document. Several URLs, --input and - give {"jobs": [...]}.

            EXAMPLES:
              fetchd add https://example.org/image.iso
              fetchd add --wait --out images/today.iso https://example.org/image.iso
              fetchd add --save . https://example.org/image.iso
              fetchd add -s photos https://example.org/1.jpg https://example.org/2.jpg
              fetchd add --wait --quiet --input urls.txt
            """)

    @Argument(help: "The URLs to download; - reads URLs from standard input, one on each line.")
    var urls: [String] = []

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "A file with URLs, one on each line. Empty lines and # comments are skipped.", valueName: "file"),
        completion: .file())
    var input: String?

    @OptionGroup(title: "The download")
    var job: NewJobOptions

    @Flag(name: .shortAndLong, help: "Wait until all downloads have ended.")
    var wait = false

    @Option(
        help: ArgumentHelp(
            "Wait, and then save the files to this local folder or file. Existing files are replaced.",
            valueName: "path"), completion: .file())
    var save: String?

    @OptionGroup(title: "Waiting")
    var waiting: WaitingOptions

    @OptionGroup(title: "The service")
    var service: ServiceOptions

    func validate() throws {
        guard !urls.isEmpty || input != nil else {
            throw ValidationError("Give one or more URLs, or --input FILE.")
        }
        if waiting.timeout != nil, !wait, save == nil {
            throw ValidationError("--timeout requires --wait or --save.")
        }
    }

    func perform(with service: RemoteService, _ console: Console) async throws {
        let urls = try URLList.gathered(urls, input: input)
        try check(urls)
        let deadline = Deadline(seconds: waiting.timeout?.seconds)
        let submission = Submission(urls.map { job.document($0.text) }, isBatch: isList || urls.count > 1)
        let isWaiting = wait || save != nil
        let (position, added) = try await deadline.limiting {
            do {
                // The last event of the journal is read before the request, so that the watch misses no event of the jobs.
                let position = isWaiting ? try await service.lastEvent() : nil
                return (position, try await submission.send(to: service))
            } catch let error as ClientError {
                throw error.naming(urls)
            }
        }
        guard let position else { return try announce(added, console) }
        try await follow(added, from: position, deadline, service, console)
    }

    /// The URLs come from a list. The form of the output then does not depend on the number of URLs in it.
    private var isList: Bool { input != nil || urls.contains("-") }

    /// Checks everything that can be checked locally before anything is added.
    private func check(_ urls: [ListedURL]) throws(ClientError) {
        guard !urls.isEmpty else {
            throw ClientError(.missing, "There is nothing to download", "The input has no URLs. Nothing was added.")
        }
        if urls.count > 1, job.concernsOneFile {
            throw ClientError(
                .misused, "One file, several URLs",
                "--checksum, --mirror, and --out with a file name work with one URL only. To give a folder, end --out with /."
            )
        }
        guard let save else { return }
        if urls.count > 1, !save.hasSuffix("/"), !LocalFile.isFolder(save) {
            throw ClientError(
                .misused, "One place, several URLs",
                "With several URLs, --save requires a folder, and \(Printable(save)) is not a folder. Nothing was added."
            )
        }
        try LocalFile.requireRoom(at: save)
    }

    private func announce(_ added: AddedJobs, _ console: Console) throws {
        if console.isJSON { return try console.print(added.text) }
        for job in added.jobs { try console.print(job.id) }
    }

    /// Waits for the jobs and prints their results, also if the waiting is interrupted.
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
