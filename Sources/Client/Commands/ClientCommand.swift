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
            console.report(error.naming(optionsOf: Self.self))
            throw ExitCode(error.status.rawValue)
        } catch let interruption as Interruption.Received {
            throw ExitCode(interruption.exitCode)
        }
    }
}

extension ClientError {
    /// The same error for the user of a command, who has not seen the request: it names options instead of members.
    func naming(optionsOf command: (some ParsableCommand).Type) -> ClientError {
        guard problem != nil else { return self }
        let help = command.helpMessage()
        var error = self
        error.sentence = sentence.replacing(/`([^`]+)`|\(in \/([^)]+)\)/) { match in
            let member = match.1 ?? match.2?.split(separator: "/").joined(separator: ".")[...]
            let option = member.flatMap { Self.option(for: $0) }
            guard let option, help.contains(option.name) else { return String(match.0) }
            return match.1 == nil ? "(in \(option.text))" : option.text
        }
        return error
    }

    /// The option that sets a member, such as `destination.filename` or `headers.Accept`.
    private static func option(for member: Substring) -> (name: String, text: String)? {
        let whole = member.replacing(/^jobs\.[0-9]+\./, with: "")
        var path = whole[...]
        while true {
            if let name = options[String(path)] {
                let isOneHeader = path == "headers" && path != whole
                return (name, isOneHeader ? "\(name) '\(whole.dropFirst(path.count + 1))'" : name)
            }
            guard let dot = path.lastIndex(of: ".") else { return nil }
            path = path[..<dot]
        }
    }

    private static let options = [
        "checksum": "--checksum", "connections": "--connections", "credentials.password": "--password-file",
        "credentials.token": "--bearer-file", "credentials.username": "--user", "deadline": "--deadline",
        "destination": "--out", "destination.on_conflict": "--on-conflict", "directory": "--directory",
        "events": "--event", "expires_at": "--expires", "filter.ended_before": "--older-than",
        "filter.session": "--session", "headers": "--header", "max_concurrent_jobs": "--max-concurrent-jobs",
        "max_total_size": "--max-total-size", "not_before": "--not-before", "on_conflict": "--on-conflict",
        "overlap_seconds": "--overlap", "priority": "--priority", "quotas.bytes_per_day": "--max-bytes-per-day",
        "quotas.concurrent_transfers": "--max-concurrent-transfers",
        "quotas.outstanding_jobs": "--max-outstanding-jobs", "quotas.requests_per_second": "--max-requests-per-second",
        "rate_limit_bytes_per_second": "--rate-limit", "scope": "--scope", "secret": "--secret-file",
        "session": "--session", "sessions": "--session", "tags": "--tag", "tls.ca_file": "--endpoint-ca-file",
        "tls.pinned_public_keys": "--endpoint-pin", "urls": "--mirror", "wait_for": "--wait-for",
    ]
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
