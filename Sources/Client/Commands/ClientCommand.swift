import ArgumentParser
import Foundation

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
            console.report(error)
            throw ExitCode(error.status.rawValue)
        } catch let interruption as Interruption.Received {
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
                PauseCommand.self, ResumeCommand.self, CancelCommand.self, RetryCommand.self, UpdateCommand.self,
                DeleteCommand.self, ImportCommand.self,
            ]),
        CommandGroup(
            name: "Session and service",
            subcommands: [
                SessionCommand.self, WebhookCommand.self, EventsCommand.self, TokenCommand.self, AuditCommand.self,
                StatsCommand.self, NodesCommand.self, HealthCommand.self,
            ]),
    ]
}

extension ExitCode {
    /// A download that the command waited for has not succeeded. The command has already printed its result.
    static let downloadFailed = ExitCode(CommandStatus.failed.rawValue)
}
