import ArgumentParser
import Foundation

struct SessionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "session",
        abstract: "Declares and shows sessions, and controls all jobs of a session.",
        discussion: """
            EXAMPLES:
              fetchd session set photos --max-concurrent-jobs 2 --directory photos
              fetchd session list
              fetchd session pause photos
            """,
        subcommands: [
            SessionListCommand.self, SessionShowCommand.self, SessionSetCommand.self, SessionPauseCommand.self,
            SessionResumeCommand.self, SessionCancelCommand.self, SessionAcknowledgeCommand.self,
            SessionDeleteCommand.self,
        ])
}
