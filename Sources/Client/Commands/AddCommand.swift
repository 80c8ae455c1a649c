import ArgumentParser
import Formats
import Foundation

struct AddCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        "add", "Submits downloads, and can wait for them.",
        discussion: """
            Prints the identifiers of the jobs, one on each line. With --wait, prints the paths of the finished files, \
            relative to the service's downloads folder. With --save, prints the paths of the local copies. Several URLs are \
            added together: either all of them, or none. If the answer of the service is lost, the command repeats the \
            request; nothing is added twice.

            --wait exits with status 0 if every download has succeeded. Otherwise it exits with status 1, or with status 2 \
            if the only failures are of the verification, and prints failure code, message and HTTP status. It continues to wait while the service restarts. Ctrl-C ends the command, not the \
            downloads.

            With --json, one URL gives one document. Several URLs, --input and - give {"jobs": [...]}.
            """,
        examples: "add https://example.org/image.iso",
        "add --wait --out images/today.iso https://example.org/image.iso",
        "add --save . https://example.org/image.iso",
        "add --checksum-url https://example.org/SUMS https://example.org/a.iso",
        "add -s photos https://example.org/1.jpg https://example.org/2.jpg", "add --wait --quiet --input urls.txt")

    @Argument(help: "The URLs to download; - reads URLs from standard input, one on each line.") var urls: [String] = []

    @Option(
        "A file with URLs, one on each line. Empty lines and # comments are skipped.", "file", name: .shortAndLong,
        completion: .file())
    var input: String?

    @OptionGroup(title: "The download") var job: NewJobOptions
    @Flag(name: .shortAndLong, help: "Wait until all downloads have ended.") var wait = false

    @Option(
        "Wait, and then save the files to this local folder or file. Existing files are replaced.", "path",
        completion: .file())
    var save: String?

    @OptionGroup(title: "Waiting") var waiting: WaitingOptions
    @OptionGroup(title: "The service") var service: ServiceOptions

    func validate() throws {
        guard !urls.isEmpty || input != nil else { throw ValidationError("Give one or more URLs, or --input FILE.") }
        try job.checksumFile.validate(besides: job.checksum)
        if waiting.timeout != nil, !wait, save == nil { throw ValidationError("--timeout requires --wait or --save.") }
    }

    func perform(with service: RemoteService, _ console: Console) async throws {
        let urls = try ListedURL.gathered(urls, input: input)
        try check(urls)
        let deadline = Deadline(seconds: waiting.timeout?.seconds)
        let jobs = urls.map { job.document($0.text) }
        let isBatch = isList || urls.count > 1
        let isWaiting = wait || save != nil
        let (position, added) = try await deadline.limiting {
            do {
                // The last event of the journal is read before the request, so that the watch misses no event of the jobs.
                let position = isWaiting ? try await service.lastEvent() : nil
                return (position, try await AddedJobs(adding: jobs, isBatch: isBatch, to: service))
            } catch let error as ClientError {
                throw error.naming(urls)
            }
        }
        if let position { return try await waitForEnd(of: added, from: position, until: deadline, service, console) }
        if console.isJSON { return try console.print(added.text) }
        for job in added.jobs { try console.print(job.id) }
    }

    /// The URLs come from a list. The form of the output then does not depend on the number of URLs in it.
    private var isList: Bool { input != nil || urls.contains("-") }

    private func check(_ urls: [ListedURL]) throws(ClientError) {
        guard !urls.isEmpty else {
            throw ClientError(.missing, "There is nothing to download", "The input has no URLs. Nothing was added.")
        }
        if urls.count > 1, job.concernsOneFile {
            throw ClientError(
                .misused, "One file, several URLs",
                "--checksum, --checksum-name, --mirror, and --out with a file name work with one URL only. To give a folder, end --out with /."
            )
        }
        guard let save else { return }
        if urls.count > 1, !save.hasSuffix("/"), !LocalFile.isFolder(save) {
            throw ClientError(
                .misused, "One place, several URLs",
                "With several URLs, --save requires a folder, and \(Printable(save)) is not a folder. Nothing was added."
            )
        }
        try LocalFile.requireWritable(at: save)
    }

    /// Waits for the jobs and prints their results, also if the waiting is interrupted.
    private func waitForEnd(
        of added: AddedJobs, from position: Int64, until deadline: Deadline, _ service: RemoteService,
        _ console: Console
    ) async throws {
        let run = WatchRun(service: service, console: console, isQuiet: waiting.quiet, deadline: deadline)
        let result = await run.watch(.jobs(added.jobs), after: position)
        let succeeded = result.tracker.jobs.filter(\.hasSucceeded)
        var error = result.error
        if let save, error == nil {
            error = await SavedFiles(service: service, console: console, path: save, deadline: deadline).fetch(
                succeeded)
        } else if save == nil, !console.isJSON, run.mustPrintPaths {
            for job in succeeded { try console.print(job.file?.path ?? job.name) }
        }
        if console.isJSON {
            try await console.print(added.presentDocuments(from: service, result.tracker, isHasty: error != nil))
        }
        if let error { throw error }
        if let failure = result.tracker.failure { throw failure }
    }
}

struct AddedJobs: Sendable {
    let jobs: [JobDocument]
    let text: JSON
    /// The service answers a list with a list, even for one job.
    let isBatch: Bool

    /// Adds jobs in one request. If the request has to be repeated, the jobs are still added only once.
    init(adding documents: [JSON], isBatch: Bool, to service: RemoteService) async throws {
        self.isBatch = isBatch
        guard isBatch else {
            let response = try await service.postOnce(RequestPath("jobs"), documents[0])
            text = response.text
            jobs = [try response.document(JobDocument.self)]
            return
        }
        let response = try await service.postOnce(RequestPath("jobs", "batch"), ["jobs": .array(documents)])
        text = response.text
        jobs = try response.list("jobs", of: JobDocument.self)
    }
}

extension AddedJobs {
    /// The documents that `--json` prints after waiting, also if the waiting was interrupted: the present document of each
    /// job, or its last known one if the service does not return it.
    ///
    /// - Parameter isHasty: the command was interrupted, or its timeout has passed.
    fileprivate func presentDocuments(from service: RemoteService, _ tracker: JobTracker, isHasty: Bool) async -> JSON {
        let end = ContinuousClock.now + (isHasty ? .seconds(2) : .seconds(3600))
        let service = isHasty ? service.limited(to: .seconds(1)) : service
        var present: [JSON] = []
        var isThere = true
        for (job, text) in zip(jobs, isBatch ? text["jobs"]?.elements ?? [] : [text]) {
            var document: JSON?
            do throws(ClientError) {
                if isThere, .now < end { document = try await service.job(job.id).text }
            } catch {
                // If only this job is missing (deleted), continue with the others. If the service fails, ask for no more.
                isThere = error.status == .missing
            }
            present.append(document ?? tracker.snapshots[job.id] ?? text)
        }
        return isBatch ? ["jobs": .array(present)] : present[0]
    }
}

/// Saves finished files locally, one after the other. If a file cannot be saved, the command continues with the others and
/// prints how to get that file later: it is still in the service's downloads folder.
private struct SavedFiles: Sendable {
    let service: RemoteService
    let console: Console
    /// A folder, or the path of the only file.
    let path: String
    let deadline: Deadline

    /// - Returns: the first error. The others have been reported.
    func fetch(_ jobs: [JobDocument]) async -> (any Error)? {
        do {
            let errors = try await InterruptSignals.cancelling {
                try await deadline.limiting { try await fetchEach(jobs) }
            }
            for error in errors.dropFirst() { console.report(error) }
            return errors.first
        } catch {
            return error
        }
    }

    private func fetchEach(_ jobs: [JobDocument]) async throws -> [ClientError] {
        var errors: [ClientError] = []
        for job in jobs {
            do {
                let file = try await FileDownload(service, job).save(to: path)
                if let file, !console.isJSON { try console.print(file) }
            } catch let error as ClientError {
                try Task.checkCancellation()
                errors.append(
                    ClientError(
                        error.status, "The file cannot be saved",
                        "\(error.sentence) The service has the file. To save it: fetchd get -o PATH \(job.id)"))
            }
        }
        return errors
    }
}
