import ArgumentParser
import Formats

struct ListCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        "list", "Lists jobs, newest first.",
        examples: "list", "list --session photos --state failed", "list --limit 10 --json",
        "list --tag holiday --quiet",
        aliases: ["ls"])

    @Option("Only jobs of this session.", "name", name: .shortAndLong, completion: .sessionNames) var session: String?
    @Option("Only jobs in this state.") var state: JobStateArgument?
    @Option("Only jobs with this tag.", "tag", name: .shortAndLong) var tag: String?
    @Option("The maximum number of jobs. (default: all)", "n", name: .limit) var limit: Int?
    @Flag(name: .shortAndLong, help: "Print only identifiers.") var quiet = false
    @OptionGroup(title: "The service") var service: ServiceOptions

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be 1 or more.") }
    }

    func perform(with service: RemoteService, _ console: Console) async throws {
        let path = RequestPath("jobs").query("session", session).query("state", state?.rawValue).query("tag", tag)
        let list = try await service.list("jobs", at: path, limit: limit)
        if list.elements.isEmpty { try await service.requireSession(session) }
        if console.isJSON { return try console.print(list.text) }
        let jobs = try list.decoded(JobDocument.self)
        if quiet { return try console.printIDs(jobs.map(\.id)) }
        if jobs.isEmpty { return console.say("No jobs found. To add one: fetchd add URL") }
        try console.print(.jobs(jobs))
    }
}

extension Table<JobDocument> {
    static func jobs(_ jobs: [JobDocument]) -> Table {
        Table(
            jobs,
            [
                .init("ID") { $0.id }, .init("STATE", state: \.state) { JobDescription.stateWithReason($0) },
                .init("DONE", isRightAligned: true, isDispensable: true) {
                    $0.progress.fraction.map(DisplayFormat.percent) ?? ""
                },
                .init("SIZE", isRightAligned: true, isDispensable: true) {
                    ($0.progress.bytesExpected ?? $0.file?.size).map(DisplayFormat.bytes) ?? ""
                },
                .init("SESSION", isDispensable: true) { $0.session }, .init("NAME") { $0.name },
            ])
    }
}

// MARK: - Show

struct ShowCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        "show", "Shows all details of jobs.",
        examples: "show job_01HZX3K9V7Q2N4R8T6W0YB5CDE", "show --json job_01HZX3K9V7Q2N4R8T6W0YB5CDE")

    @Argument(help: "The identifiers of the jobs.", completion: .jobIDs) var ids: [String]
    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        var responses: [Response] = []
        var refusal: ExitCode?
        do {
            try await console.forEach(ids) { responses.append(try await service.job($0)) }
        } catch let exit as ExitCode {
            refusal = exit
        }
        // Existing jobs are also shown if other ones do not exist.
        try show(responses, console)
        if let refusal { throw refusal }
    }

    private func show(_ responses: [Response], _ console: Console) throws {
        if console.isJSON {
            guard ids.count == 1 else { return try console.print(["jobs": .array(responses.map(\.text))]) }
            for response in responses { try console.print(response.text) }
            return
        }
        let texts = try responses.map { response in
            let fields = FieldList(try response.document(JobDocument.self), response.text.parsed ?? .null)
            return fields.text(on: console.outTerminal)
        }
        try console.out.write(texts.joined(separator: "\n"))
    }
}

extension Console {
    /// Runs an action for each of several items. If the service refuses one, the command reports it and continues with the
    /// others. The first refusal determines the exit status.
    func forEach(_ ids: [String], _ act: (String) async throws -> Void) async throws {
        var firstError: ClientError?
        for id in ids {
            do {
                try await act(id)
            } catch let error as ClientError where ids.count > 1 && error.concernsOneOfMany {
                report(error)
                firstError = firstError ?? error
            }
        }
        if let firstError { throw ExitCode(firstError.status.rawValue) }
    }
}

extension ClientError {
    /// The same action can succeed for another item.
    fileprivate var concernsOneOfMany: Bool { [.refused, .missing, .conflicting, .broken].contains(status) }
}

extension FieldList {
    /// - Parameter document: the job with the members that are only shown.
    init(_ job: JobDocument, _ document: JSON) {
        add("id", job.id)
        add("state", job.hasEnded ? JobDescription.ending(job) : JobDescription.stateWithReason(job))
        add("before it", job.queue?.position.map { DisplayFormat.count($0, "queued job") + " of the session" })
        add("cause", job.cause?.message)
        add("next", JobDescription.advice(job))
        add("url", job.url)
        add("session", job.session)
        add("progress", Self.progress(job.progress))
        add(
            document,
            [
                "file": "file.path",
                "location": .location("file.location", "destination.location"),
                "sha-256": "file.sha256", "coding": Member(Self.coding),
                "priority": Member { $0["priority"] == "normal" ? nil : $0.shown("priority") }, "tags": "tags",
                "attempts": .number("attempts") { $0 > 0 ? "\(Int($0))" : "" }, "resumed": Member(Self.resumption),
                "challenge": .joined("challenge.scheme", "challenge.realm"), "created": .time("created_at"),
                "started": .time("started_at"), "finished": .time("finished_at"), "not before": .time("not_before"),
                "deadline": .time("deadline"),
            ])
    }

    private static func progress(_ progress: JobDocument.Progress) -> String {
        var text = DisplayFormat.bytes(progress.bytesReceived)
        if let expected = progress.bytesExpected { text += " of " + DisplayFormat.bytes(expected) }
        if let fraction = progress.fraction { text += " (\(DisplayFormat.percent(fraction)))" }
        if let rate = progress.bytesPerSecond { text += ", " + DisplayFormat.rate(rate) }
        if let left = progress.etaSeconds { text += ", \(DisplayFormat.duration(left)) left" }
        return text
    }

    /// A content coding that the server used without being asked.
    @Sendable private static func coding(_ job: JSON) -> String? {
        guard let coding = job.value("receipt.coding"), let name = coding.shown("name") else { return nil }
        guard coding["decoded"] == true else {
            return "\(name), as the server sent it; add the job with --decode to decode it"
        }
        return "\(name), decoded from \(DisplayFormat.bytes(coding["size"]?.numberValue ?? 0))"
    }

    @Sendable private static func resumption(_ job: JSON) -> String? {
        switch job.shown("resume.decision") {
        case "resumed": "from \(DisplayFormat.bytes(job.value("resume.offset")?.numberValue ?? 0))"
        case "restarted": "no, started from the beginning: \(job.shown("resume.why") ?? "unknown")"
        default: nil
        }
    }
}

// MARK: - Actions on jobs

enum PauseJobs: ActionName {
    static let action = Action<JobSelection>(
        "pause", "Pauses jobs. They keep the bytes they have received.",
        examples: "pause job_01HZX3K9V7Q2N4R8T6W0YB5CDE", "pause --session photos", "pause --all"
    ) { try await $0.perform(JobAction(verb: "pause"), with: $1, $2) }
}

enum ResumeJobs: ActionName {
    static let action = Action<JobSelection>(
        "resume", "Resumes paused jobs, and waiting jobs without the wait.",
        examples: "resume job_01HZX3K9V7Q2N4R8T6W0YB5CDE", "resume --session photos"
    ) { try await $0.perform(JobAction(verb: "resume"), with: $1, $2) }
}

struct CancelCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        "cancel", "Cancels jobs.",
        examples: "cancel job_01HZX3K9V7Q2N4R8T6W0YB5CDE", "cancel --keep-bytes --session photos")

    @OptionGroup var selection: JobSelection
    @Flag(help: "Keep the downloaded bytes, so that a retry can continue from them.") var keepBytes = false
    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        let action = JobAction(verb: "cancel", body: keepBytes ? ["produce_resume_data": true] : nil)
        try await selection.perform(action, with: service, console)
    }
}

struct RetryCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        "retry", "Retries failed or cancelled jobs, from the bytes they have kept.",
        discussion:
            "With --session or --all, the command retries only failed jobs, or with --state cancelled only cancelled ones.",
        examples: "retry job_01HZX3K9V7Q2N4R8T6W0YB5CDE", "retry --session photos", "retry --all --state failed")

    enum EndedState: String, ExpressibleByArgument, CaseIterable, Sendable { case failed, cancelled }

    @OptionGroup var selection: JobSelection
    @Option("With --session or --all: the jobs in this state. (default: failed)") var state: EndedState?
    @OptionGroup(title: "The service") var service: ServiceOptions

    func validate() throws {
        if state != nil, !selection.ids.isEmpty { throw ValidationError("--state needs --session or --all.") }
    }

    /// The API has no retry of a whole session, so the command retries one job after the other. With a session, it retries
    /// only failed jobs, unless the user names the others: cancelled jobs were cancelled on purpose.
    func perform(with service: RemoteService, _ console: Console) async throws {
        let action = JobAction(verb: "retry")
        let ids = selection.ids
        guard ids.isEmpty else { return try await action.run(on: ids, isList: ids.count > 1, service, console) }
        let state = state ?? .failed
        let path = RequestPath("jobs").query("session", selection.session).query("state", state.rawValue)
        let ended = try await service.list("jobs", at: path).decoded(JobDocument.self)
        if ended.isEmpty {
            try await service.requireSession(selection.session)
            return try console.isJSON
                ? console.print(["jobs": []])
                : console.say("No job \(state == .failed ? "has failed" : "is cancelled"). Nothing was retried.")
        }
        try await action.run(on: ended.map(\.id), isList: true, service, console)
    }
}

struct JobSelection: ParsableArguments {
    @Argument(help: "The identifiers of the jobs.", completion: .jobIDs) var ids: [String] = []
    @Option("All jobs of this session.", "name", name: .shortAndLong, completion: .sessionNames) var session: String?
    @Flag(help: "All jobs of all sessions.") var all = false

    func validate() throws {
        let ways = [!ids.isEmpty, session != nil, all].count { $0 }
        guard ways == 1 else { throw ValidationError("Give job identifiers, --session, or --all.") }
    }

    /// The members of an action on many jobs.
    var members: JSONObject {
        if all { return ["all": true] }
        return session.map { ["filter": ["session": .string($0)]] } ?? ["ids": .strings(ids)]
    }

    func perform(_ action: JobAction, with service: RemoteService, _ console: Console) async throws {
        if let session { return try await console.print(action.run(onSession: session, service), as: .sessionCounts) }
        if all { return try await action.run(onAllSessionsOf: service, console) }
        try await action.run(on: ids, isList: ids.count > 1, service, console)
    }
}

/// An action on jobs, one after the other. If one job refuses the action, the action continues with the others.
struct JobAction: Sendable {
    /// The name of the action in the API.
    let verb: String
    var body: JSON?

    /// - Parameter isList: print a list even for one job, because the user did not choose the number of jobs.
    func run(on ids: [String], isList: Bool, _ service: RemoteService, _ console: Console) async throws {
        var documents: [JSON] = []
        // The list is also printed if one of the jobs refuses the action.
        defer { if console.isJSON, isList { try? console.print(["jobs": .array(documents)]) } }
        try await console.forEach(ids) { id in
            let response = try await service.send("POST", RequestPath("jobs", id, verb), body)
            documents.append(response.text)
            if !console.isJSON || !isList { try console.print(response, as: .jobState) }
        }
    }

    /// Runs the action on all jobs. It names the sessions that had outstanding jobs.
    func run(onAllSessionsOf service: RemoteService, _ console: Console) async throws {
        var documents: [JSON] = []
        var hasActed = false
        for before in try await service.sessions() {
            let response = try await run(onSession: before.id, service)
            documents.append(response.text)
            guard !console.isJSON, before.hasOutstandingJobs else { continue }
            try console.print(response, as: .sessionCounts)
            hasActed = true
        }
        if console.isJSON { return try console.print(["sessions": .array(documents)]) }
        if !hasActed { console.say("No job is outstanding.") }
    }

    func run(onSession name: String, _ service: RemoteService) async throws(ClientError) -> Response {
        try await service.send("POST", RequestPath("sessions", name, verb), body)
    }
}

extension Output {
    /// `job_1 paused`
    static let jobState = line { (job: JobDocument) in "\(job.id) \(JobDescription.state(job))" }
    /// `photos: 2 paused`
    static let sessionCounts = line { (session: SessionDocument) in
        "\(session.id): \(session.jobCounts)"
    }
}
