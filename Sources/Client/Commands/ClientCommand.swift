import ArgumentParser
import Formats

/// A command that sends requests to the service. `run()` passes the service and the console to `perform`, and converts its
/// errors to a message and an exit status.
protocol ClientCommand: AsyncParsableCommand {
    var service: ServiceOptions { get }
    func perform(with service: RemoteService, _ console: Console) async throws
}

extension ClientCommand {
    func run() async throws {
        let console = Console(isJSON: service.json)
        do {
            let settings = try ClientSettings(service.flags)
            for warning in settings.warnings where !service.json { console.say("Warning: \(warning)") }
            let patience = service.patience.map { Duration.seconds($0.seconds) }
            try await perform(with: RemoteService(settings, patience: patience), console)
        } catch let error as ClientError {
            console.report(error.naming(optionsOf: Self.self))
            throw ExitCode(error.status.rawValue)
        } catch let interruption as InterruptSignals.Received {
            throw ExitCode(interruption.exitCode)
        }
    }
}

/// All client commands, in the groups that the help shows. The executable adds them to its own commands.
public enum ClientCommands {
    public static let groups = [
        CommandGroup(
            name: "Download",
            subcommands: [
                AddCommand.self, ListCommand.self, ShowCommand.self, WatchCommand.self, GetCommand.self,
                PauseJobs.command, ResumeJobs.command, CancelCommand.self, RetryCommand.self, UpdateCommand.self,
                DeleteCommand.self, ImportCommand.self,
            ]),
        CommandGroup(
            name: "Session and service",
            subcommands: [
                SessionCommand.self, WebhookCommand.self, EventsCommand.self, HooksCommand.self, TokenCommand.self,
                AuditCommand.self,
                ShowStats.command, ListLocations.command, HostsCommand.self, NodesCommand.self, HealthCommand.self,
            ]),
    ]
}

extension ExitCode {
    /// A download that the command waited for has not succeeded. The command has already printed its result.
    static let downloadFailed = ExitCode(CommandStatus.failed.rawValue)
    /// The only downloads that have not succeeded could not be verified.
    static let downloadUnverified = ExitCode(CommandStatus.unverified.rawValue)
}

// MARK: - Simple actions

/// A simple command as a value: its help, and what it does with its operands.
struct Action<Operands: ParsableArguments & Sendable>: Sendable {
    let configuration: CommandConfiguration
    let perform: @Sendable (Operands, RemoteService, Console) async throws -> Void

    init(
        _ name: String, _ abstract: String, discussion: String = "", examples: String..., aliases: [String] = [],
        perform: @escaping @Sendable (Operands, RemoteService, Console) async throws -> Void
    ) {
        configuration = CommandConfiguration(
            name, abstract, discussion: discussion, exampleList: examples, aliases: aliases)
        self.perform = perform
    }

    /// An action that is one request.
    init(
        _ name: String, _ abstract: String, examples: String..., method: String,
        path: @escaping @Sendable (Operands) -> RequestPath, prints output: Output
    ) {
        configuration = CommandConfiguration(name, abstract, exampleList: examples)
        perform = { try await $2.print($1.send(method, path($0)), as: output) }
    }
}

/// swift-argument-parser requires a type for each command. A type with an action is a name for the action's command.
protocol ActionName {
    associatedtype Operands: ParsableArguments & Sendable
    static var action: Action<Operands> { get }
}

extension ActionName {
    static var command: any ParsableCommand.Type { ActionCommand<Self>.self }
}

struct ActionCommand<Name: ActionName>: ClientCommand {
    static var configuration: CommandConfiguration { Name.action.configuration }

    @OptionGroup var operands: Name.Operands
    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        try await Name.action.perform(operands, service, console)
    }
}

struct NoOperands: ParsableArguments {}

// MARK: - Output

/// What a command prints of a response: the document of the service with `--json`, otherwise what `print` makes of it.
struct Output: Sendable {
    var json: @Sendable (Response) -> JSON = { $0.text }
    let print: @Sendable (Response, Console) throws -> Void
}

extension Output {
    static func line<Document: Decodable & SendableMetatype>(
        _ text: @escaping @Sendable (Document) -> String
    ) -> Output {
        Output { try $1.print(text($0.document(Document.self))) }
    }

    /// Lines of names and members. The first member is in every document of the kind.
    ///
    /// - Parameter secret: a member that the service returns only at creation and rotation.
    static func fields(_ members: KeyValuePairs<String, Member>, secret: String? = nil) -> Output {
        Output { response, console in
            let document = response.text.parsed ?? .null
            guard members.first?.value.text(document) != nil else { throw ClientError.unknownForm }
            try console.print(FieldList(document, members))
            if let secret, document.shown(secret) != nil { console.say("Keep the secret: it is not shown again.") }
        }
    }

    /// `photos deleted`, or `{"deleted":["photos"]}`
    static func done(_ verb: String, _ id: String) -> Output {
        Output(json: { _ in .object([verb: [.string(id)]]) }) { try $1.print("\(id) \(verb)") }
    }
}

extension Console {
    func print(_ response: Response, as output: Output) throws {
        try isJSON ? print(output.json(response)) : output.print(response, self)
    }

    func print(_ fields: FieldList) throws(ClientError) { try out.write(fields.text(on: outTerminal)) }

    func printIDs(_ ids: [String]) throws(ClientError) { try out.write(ids.map { $0 + "\n" }.joined()) }

    /// Prints a list as a table, or `empty`; with `--json` as the document of the service.
    ///
    /// - Parameter onlyIDs: prints only the members `id`.
    func print(
        _ document: JSON, _ rows: [JSON], onlyIDs: Bool = false, empty: String? = nil,
        columns: [Table<JSON>.Column]
    ) throws(ClientError) {
        if isJSON { return try print(document) }
        if onlyIDs { return try printIDs(rows.compactMap { $0.shown("id") }) }
        if let empty, rows.isEmpty { return say(empty) }
        try print(Table(rows, columns))
    }
}

// MARK: - Declarations

extension CommandConfiguration {
    /// - Parameter examples: command lines without the name of the program. The help shows them at the end.
    public init(
        _ name: String, _ abstract: String, discussion: String = "", examples: String...,
        subcommands: [any ParsableCommand.Type] = [], defaultSubcommand: (any ParsableCommand.Type)? = nil,
        aliases: [String] = []
    ) {
        self.init(name, abstract, discussion: discussion, exampleList: examples, aliases: aliases)
        ungroupedSubcommands = subcommands
        self.defaultSubcommand = defaultSubcommand
    }

    fileprivate init(
        _ name: String, _ abstract: String, discussion: String = "", exampleList: [String], aliases: [String] = []
    ) {
        let lines = exampleList.isEmpty ? [] : ["EXAMPLES:"] + exampleList.map { "  fetchd " + $0 }
        let text = [discussion, lines.joined(separator: "\n")].filter { !$0.isEmpty }.joined(separator: "\n\n")
        self.init(commandName: name, abstract: abstract, discussion: text, aliases: aliases)
    }
}

extension Option {
    /// - Parameter value: the name of the value in the help.
    public init<T: ExpressibleByArgument>(
        _ help: String, _ value: String? = nil, name: NameSpecification = .long, completion: CompletionKind? = nil
    ) where Value == T? {
        self.init(
            name: name, parsing: .next, help: ArgumentHelp(help, valueName: value), completion: completion)
    }

    init<T: ExpressibleByArgument>(
        wrappedValue: [T], _ help: String, _ value: String? = nil, name: NameSpecification = .long,
        completion: CompletionKind? = nil
    ) where Value == [T] {
        self.init(
            wrappedValue: wrappedValue, name: name, parsing: .singleValue, help: ArgumentHelp(help, valueName: value),
            completion: completion)
    }
}

extension NameSpecification {
    /// `-l 10`, `-l10`, `--limit 10`
    static let limit: NameSpecification = [.customShort("l", allowingJoined: true), .long]
}

/// The completions of values that the service knows. They are empty if the service does not answer within two seconds.
extension CompletionKind {
    static let jobIDs = CompletionKind.shellCommand("fetchd list --quiet --limit 50 --patience 2 2>/dev/null")
    static let tokenIDs = CompletionKind.shellCommand("fetchd token list --quiet --patience 2 2>/dev/null")
    static let sessionNames = CompletionKind.shellCommand("fetchd session list --quiet --patience 2 2>/dev/null")
}
