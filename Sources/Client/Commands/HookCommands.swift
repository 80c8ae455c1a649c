import ArgumentParser
import Formats
import Foundation

struct HooksCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "hooks", "Runs a command for each event, and misses none.",
        examples: "hooks run --name indexer --on job.succeeded -- ./index", "hooks list",
        subcommands: [HooksRunCommand.self, ListHooks.command, DeleteHook.command])
}

struct HooksRunCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        "run", "Runs a command for each event of some types, until Ctrl-C.",
        discussion: """
            The service keeps the position of --name, so no event is lost when this command, the machine or the service stops: \
            each event's command ends with 0 at least once, in order for each session.

            The command gets the event as JSON on its standard input, and FETCHD_EVENT (its number), FETCHD_JOB and \
            FETCHD_PATH (the finished file, in FETCHD_FILE_LOCATION) in its environment. Status 0 acknowledges the event. Status 75 means: try again \
            later. Any other end is a failure, and is tried again after 1, 2, 4, ... seconds, at most 5 minutes. After \
            --attempts failures the event is given up, which 'fetchd hooks list' shows. Let only one process run with a name.
            """,
        examples: "hooks run --name indexer --on job.succeeded -- ./index --quiet",
        "hooks run --name mail --on session.finished,job.failed -- ./tell")

    @Option(help: ArgumentHelp("The name whose position the service keeps.", valueName: "name")) var name: String

    @Option(
        help: ArgumentHelp(
            "The types of events or patterns, separated by commas: job.failed,session.*.", valueName: "types"))
    var on: String

    @Option("Only events of this session.", "name", name: .shortAndLong, completion: .sessionNames) var session: String?

    @Option("The event after which a new name begins. 0: the oldest event. (default: the last one)", "number")
    var from: Int64?

    @Option(help: ArgumentHelp("The number of commands that run at a time.", valueName: "n")) var concurrency = 1
    @Option(help: ArgumentHelp("The failures after which an event is given up.", valueName: "n")) var attempts = 10

    @Option("The downloads folder on this machine. FETCHD_PATH is then absolute.", "folder", completion: .directory)
    var downloadsDir: String?

    @Option("The folder of another location on this machine, such as films=/mnt/films; repeatable.", "name=folder")
    var location: [FolderArgument] = []

    @Argument(parsing: .postTerminator, help: "The command and its arguments, after --.") var command: [String] = []
    @OptionGroup(title: "The service") var service: ServiceOptions

    func validate() throws {
        if command.isEmpty { throw ValidationError("Name the command after --.") }
        if !(1...64).contains(concurrency) { throw ValidationError("--concurrency must be from 1 to 64.") }
        if attempts < 1 { throw ValidationError("--attempts must be 1 or more.") }
        if let from, from < 0 { throw ValidationError("--from must be the number of an event, or 0.") }
    }

    func perform(with service: RemoteService, _ console: Console) async throws {
        var declaration: JSONObject = [
            "session": .optional(session), "events": .strings(on.split(separator: ",").map(String.init)),
        ]
        if let from { declaration["from"] = .integer(from) }
        _ = try await service.answer(console) { [declaration] () throws(ClientError) in
            try await service.send("PUT", RequestPath("consumers", name), .object(declaration))
        }
        let process = HookProcess(command: command, folders: folders)
        let options = HookRunner.Options(consumer: name, concurrency: concurrency, attempts: attempts)
        let attempts = attempts
        let runner = HookRunner(service, options, process, console) { event, end, verdict in
            if console.isJSON { return Self.print(event, end, verdict, console) }
            if let line = Self.line(event, end, verdict, attempts) { console.say(line) }
        }
        try await InterruptSignals.cancelling { try await runner.run() }
    }

    private var folders: [String: String] {
        var folders = location.reduce(into: [:]) { $0[$1.location] = $1.folder }
        if let downloadsDir { folders["default"] = downloadsDir }
        return folders.mapValues { URL(filePath: $0).standardizedFileURL.path(percentEncoded: false) }
    }

    /// nil for a success: the command may say something itself.
    static func line(_ event: HookEvent, _ end: HookEnd, _ verdict: HookQueue.Verdict, _ attempts: Int) -> String? {
        let what = "event \(event.id) (\(event.type), session \(event.session)): the command \(end.words)"
        return switch verdict {
        case .done: nil
        case .delayed(let seconds): "\(what); again in \(Self.wait(seconds))"
        case .failed(let count, let seconds):
            "\(what); failure \(count) of \(attempts), again in \(Self.wait(seconds))"
        case .givenUp: "\(what); given up after \(attempts) failures"
        }
    }

    private static func wait(_ seconds: Double) -> String { "\(Int(seconds.rounded(.up))) s" }

    private static func print(_ event: HookEvent, _ end: HookEnd, _ verdict: HookQueue.Verdict, _ console: Console) {
        var document: JSONObject = [
            "event": .integer(event.id), "type": .string(event.type), "session": .string(event.session),
            "end": .string(end.words),
        ]
        switch verdict {
        case .done: document["result"] = "acknowledged"
        case .delayed(let seconds), .failed(_, let seconds):
            document["result"] = "retry"
            document["retry_in_seconds"] = .number(seconds)
        case .givenUp: document["result"] = "given_up"
        }
        // The reader of the output is gone: the commands go on nevertheless.
        try? console.print(JSON.object(document))
    }
}

/// `films=/mnt/films`.
struct FolderArgument: ExpressibleByArgument, Sendable {
    let location: String
    let folder: String

    init?(argument: String) {
        let halves = argument.split(separator: "=", maxSplits: 1).map(String.init)
        guard halves.count == 2 else { return nil }
        (location, folder) = (halves[0], halves[1])
    }
}

extension HookEnd {
    var words: String {
        switch self {
        case .exited(let status): "ended with \(status)"
        case .killed(let signal): "was killed by signal \(signal)"
        case .notStarted(let error): "could not be started: \(String(cString: strerror(error)))"
        }
    }
}

enum ListHooks: ActionName {
    static let action = Action<NoOperands>(
        "list", "Lists the names, with the events that they have not acknowledged.", examples: "hooks list",
        aliases: ["ls"]
    ) { _, service, console in
        let response = try await service.send("GET", RequestPath("consumers"))
        let events = Member { $0["events"]?.arrayValue?.compactMap(\.stringValue).joined(separator: ",") }
        try console.print(
            response.text, response.list("consumers"),
            empty: "There are none. To begin: fetchd hooks run --name NAME --on TYPES -- COMMAND",
            columns: [
                .init("NAME", "name"), .init("SESSION", "session", isDispensable: true), .init("EVENTS", events),
                .init("WAITING", "lag.events", isRightAligned: true),
                .init("GIVEN UP", "given_up", isRightAligned: true),
                .init("OLDEST", Member.time("lag.oldest_at"), isDispensable: true),
            ])
    }
}

struct HookName: ParsableArguments {
    @Argument(help: "The name of the hook.") var name: String
}

enum DeleteHook: ActionName {
    static let action = Action<HookName>(
        "delete", "Deletes a name and its position.", examples: "hooks delete mail", aliases: ["rm"]
    ) { hook, service, console in
        try await console.print(
            service.send("DELETE", RequestPath("consumers", hook.name)), as: .done("deleted", hook.name))
    }
}
